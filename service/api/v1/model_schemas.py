"""What every list says of the model behind it."""

import marshmallow as ma

from service.api.fields import Time
from service.api.schemas import Schema


class ModelSchema(Schema):
    """How old is what stands behind a list."""

    generation = ma.fields.String(
        required=True, allow_none=True, metadata={"description": "Null before the first training."}
    )
    model_trained_at = Time(required=True, allow_none=True, attribute="trained_at")
    catalogue_as_of = Time(
        required=True,
        metadata={"description": "When the last paper came in; it can be in the list already."},
    )
    stale = ma.fields.Boolean(
        required=True, metadata={"description": "Whether it is older than it should be."}
    )
    stale_because = ma.fields.String(required=True, allow_none=True)
    experiment = ma.fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "The experiment in which another generation proposed some of the "
            "papers, so that what you choose tells which is better. Null while there is none."
        },
    )

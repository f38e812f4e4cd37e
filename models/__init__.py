"""The recommender: arrays in, arrays out. These are not database tables (see service/tables/).

Two doors: :func:`models.training.train` makes a model from everybody's evidence, and
:func:`models.recommending.recommend` ranks papers for one person. Nothing here knows a session,
a clock or a web request; randomness and settings come in as arguments.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

BoolArray: TypeAlias = npt.NDArray[np.bool_]
IntArray: TypeAlias = npt.NDArray[np.int64]
SmallIntArray: TypeAlias = npt.NDArray[np.int32]
FloatArray: TypeAlias = npt.NDArray[np.float32]
AnyIntArray: TypeAlias = npt.NDArray[np.integer]

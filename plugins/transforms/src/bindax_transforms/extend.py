"""Names for packages that trace functions of users, and carry references through the programs."""

from bindax_core.extend import public_names as _public_names
from bindax_transforms.autodiff.asked_cotangents import DidntWant as DidntWant
from bindax_transforms.autodiff.asked_cotangents import DontWant as DontWant
from bindax_transforms.autodiff.asked_cotangents import GradRef as GradRef
from bindax_transforms.autodiff.asked_cotangents import GradValue as GradValue
from bindax_transforms.autodiff.partial_eval import SplitProgram as SplitProgram
from bindax_transforms.autodiff.transposition import transpose_with_logs as transpose_with_logs
from bindax_transforms.autodiff.transposition import (
    transpose_with_references as transpose_with_references,
)
from bindax_transforms.compilation.explicit_shardings import decided as decided
from bindax_transforms.compilation.explicit_shardings import reshard as reshard
from bindax_transforms.custom.accumulators import GradAccum as GradAccum
from bindax_transforms.custom.accumulators import NullAccum as NullAccum
from bindax_transforms.custom.accumulators import ValAccum as ValAccum
from bindax_transforms.custom.accumulators import sum_in as sum_in
from bindax_transforms.manual_axes import register_cast as register_cast
from bindax_transforms.manual_axes import same_on_devices as same_on_devices
from bindax_transforms.manual_axes import same_sums as same_sums
from bindax_transforms.manual_axes import varying_along as varying_along
from bindax_transforms.manual_axes import varying_as as varying_as
from bindax_transforms.manual_axes import varying_beyond as varying_beyond
from bindax_transforms.manual_axes import varying_of as varying_of
from bindax_transforms.manual_axes import with_varying as with_varying
from bindax_transforms.manual_axes import without_varying as without_varying
from bindax_transforms.staging.backward_logs import are_logs_wanted as are_logs_wanted
from bindax_transforms.staging.backward_logs import log as log
from bindax_transforms.staging.backward_logs import log_last as log_last
from bindax_transforms.staging.reference import Reference as Reference
from bindax_transforms.staging.reference import argument_error as argument_error
from bindax_transforms.staging.reference import check_distinct as check_distinct
from bindax_transforms.staging.reference import has_references as has_references
from bindax_transforms.staging.reference import returned_error as returned_error
from bindax_transforms.staging.staged_program import StagedProgram as StagedProgram
from bindax_transforms.staging.staged_program import joined as joined
from bindax_transforms.staging.staged_program import kept_apart as kept_apart
from bindax_transforms.staging.staged_program import (
    stage_with_references as stage_with_references,
)
from bindax_transforms.staging.staged_program import with_constants as with_constants
from bindax_transforms.staging.trace_cache import stand_for as stand_for

vars()["__all__"] = _public_names(vars())

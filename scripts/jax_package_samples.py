"""Tests of packages written for JAX that ``jax_packages.py`` runs, and what is known of them."""

from __future__ import annotations

LOOPS = (
    "notangent_forward forward backward_bounded vmap_primal_unbatched_cond "
    "vmap_primal_batched_cond vmap_cotangent speed_while speed_buffer_while "
    "speed_grad_checkpointed_while nested_loops zero_buffer symbolic_zero disable_jit "
    "buffer_index nondifferentiable_body1 nondifferentiable_body2 body_fun_grads "
    "trivial_vjp buffer_at_set unperturbed_output"
)
"""The tests of loops of equinox, without the 68 of one function, which compile for many minutes."""

SAMPLES: dict[str, tuple[str, str]] = {
    "optax": (
        "optax",
        (
            "_src/base _src/utils _src/update _src/numerics transforms schedules tree_utils "
            "projections losses/_regression losses/_ranking"
        ),
    ),
    "chex": (
        "chex/_src",
        "asserts asserts_internal dataclass dimensions pytypes variants warnings fake",
    ),
    "dm-haiku": ("haiku/_src", "base module recurrent lift random initializers embed"),
    "jraph": ("jraph/_src", "models"),
    "mctx": ("mctx/_src/tests", "qtransforms policies seq_halving"),
    "numpyro": (
        "sdist:numpyro/test",
        (
            "test_handlers test_optimizers test_distributions_util test_util test_diagnostics "
            "test_compile test_constraints test_distributions.py::test_jit_log_likelihood "
            "test_distributions.py::test_sample_gradient"
        ),
    ),
    "e3nn-jax": (
        "sdist:e3nn_jax/tests/_src",
        (
            "irreps rotation basic perm irreps_array activation gate grad scatter so3 config "
            "dropout_haiku linear_flax linear_equinox radius_graph utils/einsum"
        ),
    ),
    "blackjax": (
        "sdist:blackjax/tests",
        (
            "test_util test_diagnostics mcmc/test_integrators mcmc/test_metrics mcmc/test_proposal "
            "mcmc/test_trajectory mcmc/test_uturn mcmc/test_mala mcmc/test_slice "
            "optimizers/test_optimizers sgmcmc/test_gradients smc/test_resampling smc/test_solver"
        ),
    ),
    "jaxopt": ("sdist:jaxopt/tests", "bisection bfgs broyden isotonic projected_gradient"),
    "flax.linen": (
        "sdist:flax/tests/linen",
        (
            "linen_activation linen_attention linen_batch_apply linen_combinators linen_dtypes "
            "linen_linear linen_meta linen_module linen_recurrent linen linen_transforms "
            "initializers kw_only_dataclasses partitioning summary"
        ),
    ),
    "flax.nnx": ("sdist:flax/tests/nnx", "transforms"),
    "equinox": (
        "sdist:equinox/tests",
        (
            "test_abstract test_ad test_caches test_callback test_checkpoint "
            "test_closure_to_pytree test_debug test_enum test_errors test_eval_shape test_filters "
            "test_finalise_jaxpr test_jit test_make_jaxpr test_misc test_module test_nn "
            "test_noinline test_nontraceable test_pformat test_primitive test_progress_meter "
            "test_scan test_serialisation test_shared test_stateful test_str2jax test_tree "
            "test_update test_vmap "
        )
        + " ".join(f"test_while_loop.py::test_{name}" for name in LOOPS.split()),
    ),
    "equinox (programs)": ("ours:jax_packages", "equinox_cases"),
    "lineax": (
        "sdist:lineax/tests",
        (
            "test_adjoint test_invert test_misc test_lsmr test_solve test_operator "
            "test_vmap.py::test_grad_vmap_basic test_vmap.py::test_grad_vmap_advanced "
            "test_singular.py::test_nonsquare_pytree_operator1 "
            "test_singular.py::test_nonsquare_pytree_operator2 "
            "test_singular.py::test_gmres_stagnation_or_breakdown "
            "test_well_posed.py::test_pytree_wellposed"
        ),
    ),
    "lineax (programs)": ("ours:jax_packages", "lineax_cases"),
    "optimistix": (
        "sdist:optimistix/tests",
        (
            "test_ad test_misc test_bisection test_best_so_far test_solve test_cauchy_point "
            "test_compat test_fixed_point"
        ),
    ),
    "optimistix (programs)": ("ours:jax_packages", "optimistix_cases"),
    "diffrax": (
        "sdist:diffrax/test",
        (
            "test_term test_typing test_misc test_citation test_local_interpolation "
            "test_very_chord test_vmap test_saveat_solution test_progress_meter "
            "test_adaptive_stepsize_controller test_adjoint.py::test_adjoint_seminorm "
            "test_adjoint.py::test_closure_errors test_adjoint.py::test_closure_fixed "
            "test_adjoint.py::test_backprop_ts test_adjoint.py::test_sde_against "
            "test_adjoint.py::test_implicit_runge_kutta_direct_adjoint "
            "test_adjoint.py::test_forward_mode_runge_kutta test_solver.py::test_half_solver "
            "test_solver.py::test_instance_check test_solver.py::test_implicit_euler_adaptive "
            "test_solver.py::test_multiple_tableau_single_step "
            "test_solver.py::test_multiple_tableau1 test_solver.py::test_multiple_tableau2 "
            "test_solver.py::test_everything_pytree test_solver.py::test_sil3 "
            "test_solver.py::test_implicit_closure_convert "
            "test_solver.py::test_adaptive_dt0_semiimplicit_euler "
            "test_solver.py::test_adaptive_dt0_milstein"
        ),
    ),
    "diffrax (programs)": ("ours:jax_packages", "diffrax_cases"),
    "distrax": ("distrax/_src", "bijectors distributions utils"),
    "rlax": ("rlax/_src", ""),
    "dm-pix": ("dm_pix/_src", ""),
    "coordax": (
        "coordax",
        "coordinate_systems fields jax_datetime_integration named_axes xarray",
    ),
    "surjectors": ("surjectors", "_src util"),
    "flashbax": (
        "flashbax",
        (
            "utils vault/vault_test.py::test_write_to_vault "
            "vault/vault_test.py::test_read_from_vault vault/vault_test.py::test_reload_vault "
            "buffers/sum_tree buffers/trajectory_queue buffers/item_buffer "
            "buffers/prioritised_item_buffer buffers/flat_buffer buffers/prioritised_flat_buffer "
            "buffers/mixer"
        ),
    ),
    "treescope": ("sdist:treescope/tests", ""),
    "penzai": ("sdist:penzai/tests", "core models"),
    "tinygp": ("sdist:tinygp/tests", ""),
    "jaxlie": ("sdist:jaxlie/tests", ""),
    "evosax": (
        "sdist:evosax/tests",
        (
            "test_algorithms/test_distribution_based test_algorithms/test_population_based "
            "test_core/test_fitness_shaping test_core/test_kernel test_core/test_optimizer "
            "test_core/test_restart test_core/test_restart_controllers "
            "test_learned_evolution/test_learned_fitness_shaping "
            "test_learned_evolution/test_les_tools test_problems/test_bbob "
            "test_problems/test_networks"
        ),
    ),
    "gymnax": (
        "sdist:gymnax/tests",
        (
            "classic_control misc minatar test_visualizer wrappers/test_dm_env wrappers/test_gym "
            "wrappers/test_evaluator"
        ),
    ),
    "flowjax": (
        "sdist:flowjax/tests",
        (
            "test_distributions test_flows test_masks test_root_finding test_utils "
            "test_bijections test_train"
        ),
    ),
    "jax-cfd": (
        "jax_cfd/base",
        (
            "array_utils boundaries fast_diagonalization finite_differences funcutils grids "
            "interpolation resize"
        ),
    ),
    "jaxtyping": (
        "sdist:jaxtyping/test",
        "test_array test_decorator test_generators test_messages test_pytree test_serialisation",
    ),
    "scico": (
        "sdist:scico/scico/test",
        (
            "functional/test_core functional/test_norm linop/test_convolve linop/test_diag "
            "linop/test_diff linop/test_linop linop/test_matrix numpy/test_numpy_util "
            "operator/test_operator optimize/test_pgm test_function test_metric test_solver"
        ),
    ),
    "gpjax": (
        "sdist:gpjax/tests",
        (
            "test_dataset test_gaussian_distribution test_kernels/test_base "
            "test_kernels/test_stationary test_likelihoods test_linalg test_mean_functions "
            "test_parameters"
        ),
    ),
    "pgx": (
        "sdist:pgx/tests",
        (
            "test_animal_shogi test_breakout test_connect_four test_hex test_kuhn_poker "
            "test_leduc_holdem test_othello test_play2048 test_tic_tac_toe"
        ),
    ),
    "ott-jax": (
        "sdist:ott_jax/tests",
        (
            "geometry/geometry geometry/lr_kernel math/legendre math/lse math/math_utils "
            "math/matrix_square_root tools/gaussian_mixture/gaussian "
            "tools/gaussian_mixture/linalg tools/gaussian_mixture/probabilities "
            "tools/gaussian_mixture/scale_tril tools/sliced tools/unreg"
        ),
    ),
    "orbax-checkpoint": (
        "sdist:orbax_checkpoint/tests",
        (
            "_src/arrays/abstract_arrays _src/arrays/numpy_utils _src/composite "
            "_src/handlers/array_checkpoint_handler _src/handlers/json_checkpoint_handler "
            "_src/handlers/pytree_metadata _src/handlers/standard_checkpoint_handler "
            "_src/metadata/tree _src/tree/utils transform_utils"
        ),
    ),
    "s2fft": (
        "sdist:s2fft/tests",
        (
            "test_healpix_ffts test_quadrature test_resampling test_samples "
            "test_spherical_transform test_utils test_wigner_recursions"
        ),
    ),
    "jax-md": ("sdist:jax_md/tests", "quantity smap space"),
    "netket": (
        "sdist:netket/test",
        "jax models/test_jastrow models/test_mlp models/test_rbm nn operator/test_spin utils",
    ),
    "jaxley": (
        "sdist:jaxley/tests",
        (
            "test_cell_matches_branch test_data_feeding test_groups test_make_trainable "
            "test_misc test_pickle test_record_and_stimulate test_set_ncomp test_solver "
            "test_transforms test_viewing"
        ),
    ),
}
"""By distribution, or part of one: the folder of its tests, and the files of the sample, as in
``NAME_test.py``; programs of ours are ``ours:`` in the folder of that name."""

SIZES: dict[str, int] = {
    "distrax": 40,
    "rlax": 60,
    "dm-pix": 40,
    "coordax": 80,
    "surjectors": 30,
    "flashbax": 39,
    "jaxlie": 20,
    "evosax": 30,
    "flowjax": 30,
    "penzai": 60,
    "tinygp": 16,
    "jax-cfd": 30,
    "scico": 40,
    "gpjax": 25,
    "pgx": 20,
    "ott-jax": 20,
    "orbax-checkpoint": 25,
    "s2fft": 20,
    "jax-md": 40,
    "netket": 40,
    "jaxley": 24,
}
"""By distribution, how many tests of these files run, where not all."""

REPOSITORIES: dict[str, str] = {
    "jaxopt": "`google/jaxopt`",
    "jaxtyping": "`patrick-kidger/jaxtyping`, its tag v0.3.11, in the folder `test`",
    "penzai": "`google-deepmind/penzai`, its tag v0.2.5",
    "tinygp": "`dfm/tinygp`, its tag v0.3.1",
    "evosax": "`RobertTLange/evosax`, commit d4b4127 of 0.3.1",
    "gymnax": "`RobertTLange/gymnax`, its tag v0.0.9",
    "treescope": "`google-deepmind/treescope`, commit ffbea75 of 0.1.10",
    "equinox": (
        "`patrick-kidger/equinox`, its main branch at the time of 0.13.8, such as "
        "`test_module` of commit 0277a30 or `test_while_loop` of 38054a1"
    ),
    "lineax": (
        "`patrick-kidger/lineax`, of before 0.1.1, such as `test_adjoint` of commit 0cfecac or "
        "`test_operator` of 03f3302"
    ),
    "optimistix": (
        "`patrick-kidger/optimistix`, of about 0.1.0, such as `test_cauchy_point` of commit "
        "c71b7f8 or `test_solve` of 23dd33e"
    ),
    "diffrax": (
        "`patrick-kidger/diffrax`, its main branch near 0.7.2, such as `test_adjoint` of commit "
        "03e5b92 or `test_term` of 0b73d34, in the folder `test`"
    ),
    "scico": "`lanl/scico`, its tag v0.0.7",
    "gpjax": "`JaxGaussianProcesses/GPJax`, commit 046d07a of its main branch",
    "pgx": "`sotetsuk/pgx`, commit 079b2d7 of its main branch",
    "ott-jax": "`ott-jax/ott`, its tag 0.6.0",
    "orbax-checkpoint": "`google/orbax`, its tag v0.12.3, of `checkpoint/orbax/checkpoint`",
    "s2fft": "`astro-informatics/s2fft`, commit 5e6a082 of its main branch",
    "jax-md": "`jax-md/jax-md`, its tag jax-md-v0.2.29",
    "netket": "`netket/netket`, commit 3b9e1c2 of its main branch",
    "jaxley": "`jaxleyverse/jaxley`, commit 2638cca of its main branch",
}
"""Where the tests are from of packages whose distributions have none, and their version."""

KNOWN: dict[str, str] = {
    "treescope": (
        "NumPy takes the dtypes of keys here and names them `void64`, where JAX's are none of "
        "NumPy's."
    ),
    "equinox": (
        "Three tests compare addresses of donated arrays, which are on the host here until a "
        "program takes them; two count the equations of a program, which here says what it "
        "broadcasts; two count the lowerings of a function that here is evaluated on the host; one "
        "expects the compiler's error where here the callback's own is raised."
    ),
    "ott-jax": (
        "The test expects nan as the gradient of `numpy.linalg.norm` at zero, which here is zero."
    ),
}
"""Reasons beyond the messages of the tests."""

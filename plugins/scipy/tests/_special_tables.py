"""The calls of `bindax.scipy.special` that are compared with JAX."""

import numpy as np
from _calls import Table, operand

SPECIAL = Table(
    "scipy.special",
    {
        "A": operand((6,), "float32", 1, 0.1, 5.0),
        "B": operand((6,), "float32", 2, 0.2, 4.0),
        "U": operand((6,), "float32", 3, 0.02, 0.98),
        "X": np.array([-3.5, -0.7, 0.3, 1.2, 2.9, 6.5], np.float32),
        "I": np.array([0, 1, 2, 3, 4, 5], np.int32),
        "E": np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -2.5], np.float32),
        "Z": operand((5,), "complex64", 4, -3.0, 3.0),
        "M": operand((2, 3), "float32", 5, 0.5, 2.0),
    },
    """
    gammaln(X) gammaln(I) gammasgn(X) gammasgn(E) gamma(A) gamma(X) gamma(Z) loggamma(X) loggamma(A)
    loggamma(Z) betaln(A, B) betaln(A, 2.5) beta(A, B) beta(A, I + 1) betainc(A, B, U) digamma(X)
    digamma(A) gammainc(A, B) gammaincc(A, B) erf(X) erf(E) erfc(X) erfinv(U) erfcx(X) erfcx(E)
    erfcx(Z) dawsn(X) dawsn(E) dawsn(I) logit(U) expit(X) expit(E) xlogy(X, A) xlogy(I, U)
    xlogy(E, 0.0) xlog1py(X, A) entr(A) entr(E) boxcox(A, X) boxcox(A, 0.0) boxcox1p(U, X)
    multigammaln(A + 3, 3) kl_div(A, B) kl_div(E, 1.0) rel_entr(A, B) rel_entr(E, U[0]) wofz(Z)
    wofz(X) zeta(A + 1.5, B) polygamma(1, A) polygamma(I, A) ndtr(X) ndtr(E) ndtri(U) log_ndtr(X)
    log_ndtr(E) log_ndtr(-7 * A) i0(X) i0e(X) i1(X) i1e(X) i0(I) factorial(I) factorial(X)
    comb(I, 2)
    comb(A, B) comb(4, I) comb(I, 2, repetition=True) poch(A, B) poch(A, 0) bessel_jn(A, v=3)
    bessel_jn(A[0], v=2, n_iter=30) expn(2, A) expn(I, A) exp1(A) expi(X) expi(A) sici(X) sici(A)
    fresnel(X) fresnel(E) spence(A) spence(U) bernoulli(1) hyp1f1(A, B, X)
    hyp1f1(0.5, 1.5, X) hyp2f1(A, B, A + 0.7, U) hyp2f1(0.3, 0.4, 1.9, U - 0.5) owens_t(X, A)
    owens_t(X, -U) softmax(M) softmax(M, axis=1) log_softmax(M) log_softmax(M, axis=0) logsumexp(M)
    sph_harm_y(I, I - 1, U, A, n_max=5) sph_harm_y(I, -I, U, X, n_max=6) zeta(3.0, M)
    """,
    """
    gammaln(A) gamma(A) loggamma(A) betaln(A, B) betaln(B, A) beta(A, B) betainc(B, B + 1, A / 6)
    gammainc(B, A) gammaincc(B, A) digamma(A) erfinv(A / 6) erfcx(A) erfcx(-A) dawsn(A) logit(A / 6)
    xlogy(A, B) xlogy(B, A) xlog1py(B, A) entr(A) boxcox(A, B) boxcox1p(B, A)
    multigammaln(A + 3, 3) kl_div(A, B) kl_div(B, A) rel_entr(B, A) zeta(A + 1.5, B)
    zeta(B + 1.5, A)
    polygamma(2, A) ndtr(A) ndtri(A / 6) log_ndtr(A) log_ndtr(-7 * A) i0(A) i1e(A) factorial(A)
    poch(A, B) poch(B, A) bessel_jn(A, v=2) expn(2, A) exp1(A) expi(A) sici(A) fresnel(A)
    spence(A / 6)
    hyp1f1(A, B, X) hyp1f1(B, A, X) hyp1f1(B, A, A) hyp2f1(A, B, B + 2, U / 2)
    hyp2f1(B, 0.5, A, U / 2) hyp2f1(0.3, 0.4, B, A / 7) owens_t(A, B) owens_t(B, A)
    sph_harm_y(I, I - 1, A, U, n_max=5)
    """,
    eager="bernoulli(1)",
    # The recurrence leaves the range of 32 bits.
    unknown="bessel_jn(A, v=3)",
)

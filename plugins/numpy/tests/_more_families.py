"""Further families of calls that `test_families.py` compares with JAX."""

import numpy as np
from _family_list import COMMON
from _numpy_families import Family, operand

SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5, 2e-38, 3e38], "float32")
# Multiplied with 64 bits: with 32, each BLAS rounds in its own way.
DEFINITE = (np.float64(COMMON["M"]) @ COMMON["M"].T + np.eye(3)).astype("float32")
NUMBERS = {**COMMON, "S8": COMMON["S"], "X": SPECIAL, "T": SPECIAL[:, None], "P": DEFINITE}

ELEMENTWISE = Family(
    """
    signbit(X) signbit(I) signbit(K) copysign(X,T) copysign(I,-1) fmax(X,T) fmin(X,T) fmax(I,J)
    nextafter(A,B) nextafter(I,9) spacing(A) spacing(X) frexp(X) frexp(A) frexp(H) frexp(I)
    ldexp(A,I) ldexp(I,J) ldexp(X,C[:1]*50) modf(X[3:]) modf(A) modf(I) float_power(abs(A),B)
    float_power(abs(I)+1,J) logaddexp2(A,B) logaddexp2(I,J) fabs(I) fabs(X) sinc(A) sinc(I) sinc(Z)
    sinc(X[3:7]*1e-3) i0(A) isreal(Z) isreal(A) iscomplex(Z) iscomplex(I) acos(A/9) acosh(abs(A)+1)
    asin(A/9) asinh(A) atan(A) atan2(A,B) atanh(A/9) degrees(A) radians(I) pow(abs(A),B)
    around(A,1) bitwise_invert(I) left_shift(I,abs(J)) right_shift(I,abs(J)) left_shift(U,S8)
    right_shift(U,1) bitwise_left_shift(S8,abs(S8)) bitwise_right_shift(S8,1) bitwise_count(I)
    bitwise_count(U) gcd(I,J) gcd(I*6,C[:1]*4) gcd(U,U*6) lcm(I,J) lcm(S8,S8*3) packbits(K)
    packbits(K,1) packbits(I,0,'little') unpackbits(U) unpackbits(U,1) unpackbits(U,0,5,'little')
    unpackbits(U,1,-3) bartlett(5) blackman(6) hamming(7) hanning(1) hanning(0) kaiser(6,8.6)
    kaiser(1,2.0)
    """,
    NUMBERS,
    """
    copysign(A,B) fmax(A,B) fmin(A,B) modf(A) float_power(abs(A),B) logaddexp2(A,B) fabs(A) sinc(A)
    i0(A) ldexp(A,I) frexp(A)
    """,
)

CUMULATIVE = Family(
    """
    cumprod(A,0) cumprod(I,1) cumprod(K) cumprod(S8,0,'int32') nancumsum(N,1) nancumsum(I,0)
    nancumprod(N) cumulative_sum(A,axis=1) cumulative_sum(S8,axis=0,include_initial=True)
    cumulative_sum(V,dtype='float16') cumulative_prod(I,axis=1)
    cumulative_prod(C,include_initial=True) diff(A) diff(A,2,0) diff(I,axis=0,prepend=0)
    diff(A,append=B[:,:1]) diff(K) diff(A,0) diff(V,5) ediff1d(A)
    ediff1d(I,to_end=9,to_begin=np.array([1,2])) gradient(A) gradient(V) gradient(A,2.0,axis=0)
    gradient(A,cumsum(W**2),1.0) gradient(V,cumsum(V**2+1)) gradient(Q,axis=(0,-1)) gradient(I[0])
    trapezoid(A) trapezoid(A,V) trapezoid(I,axis=0) trapezoid(A,B,axis=0) trapezoid(A,dx=0.5)
    unwrap(A*9) unwrap(A*9,axis=0) unwrap(I,period=4) unwrap(A*9,4.0) nansum(N) nansum(N,1)
    nansum(I,0) nanprod(N,1,keepdims=True) nansum(N,where=N>0) nanmax(N) nanmax(N,1) nanmin(N,0)
    nanmin(I,1) nanmax(N,1,initial=2.0) nanmean(N,1) nanmean(N,where=K) nanvar(N,1)
    nanvar(N,0,ddof=1) nanstd(N[0]) nanstd(I) nanargmax(N) nanargmin(N,0)
    nanargmax(N,1,keepdims=True) nanargmin(I,1) nansum(Z) nanmean(H,0)
    """,
    NUMBERS,
    """
    cumprod(A,0) nancumsum(A) cumulative_prod(A,axis=1,include_initial=True) diff(A,2) gradient(A)
    gradient(A,cumsum(W**2),1.0) trapezoid(A,V) unwrap(A*9) nansum(A*N) nanmax(A,1) nanmean(A,0)
    nanvar(A,1) ediff1d(A,to_end=9)
    """,
)

COUNTS = Family(
    """
    bincount(C,length=5) bincount(abs(C),length=3)
    bincount(abs(C),V[:1]*ones(6,'float32'),length=5) histogram(A) histogram(A,5,(-1,1))
    histogram(A,sort(V)) histogram(I,4) histogram(A,4,density=True) histogram(A,4,weights=abs(B))
    histogram_bin_edges(A,3) histogram_bin_edges(V[:1],3) histogram_bin_edges(I,4,(0,8))
    histogram2d(A[0],B[0],3) histogram2d(A[0],B[0],[2,3],density=True) histogramdd(A,3)
    histogramdd(A[:,:2],[2,3],weights=W) histogramdd(A[:,:2],2,[(-1,1),None]) interp(A,sort(V),V)
    interp(A,sort(V),V,left=-9.0,right=9.0) interp(A,sort(W),W,period=1.5)
    interp(I,arange(3),arange(3)*2) interp(0.5,arange(3,dtype='float32'),W) interp(A,sort(V),Z[0])
    cov(A) cov(A,B) cov(A,rowvar=False) cov(A,bias=True) cov(V) cov(A,ddof=0) cov(I) cov(Z)
    cov(A,fweights=abs(C[:4])+1) cov(A,aweights=abs(V))
    cov(A,fweights=abs(C[:4])+1,aweights=abs(V)) corrcoef(A) corrcoef(V) corrcoef(A,B) corrcoef(Z)
    corrcoef(A,rowvar=False) kron(A,B[:2,:2]) kron(V,I) kron(A,Q[0,:1]) vecdot(A,B) vecdot(Z,Y)
    vecdot(A,B,axis=0) vecdot(Q,V) matvec(Q,V) matvec(A,V) vecmat(W,A) vecmat(Z[:,0],Y)
    cross(A[:,:3],B[:,:3]) cross(A[:,:2],B[:,:3]) cross(A[:,:2],B[:,:2]) cross(A,B,axis=0)
    cross(M,W,axisa=0) cross(I[:,:3],M,axisc=0) convolve(V,W) convolve(V,W,'same')
    convolve(W,V,'valid') convolve(I[0],C) convolve(V,A.ravel(),'same') convolve(Z[0],V)
    correlate(V,W) correlate(V,W,'full') correlate(W,V,'same') correlate(Z[0],Y[:,0],'full')
    correlate(V,V[:2],'same') correlate(V[:2],V,'full') correlate(V[:2],V,'valid')
    correlate(W,V,'full') polyval(W,A) polyval(A,V) polyval(I[0],Z) polyadd(V,W) polysub(W,I[0])
    polymul(V,W) polymul(I[0],C) polydiv(V,W) polydiv(W,V) polyder(V) polyder(V,2) polyder(I[0])
    polyder(W,5) polyint(V) polyint(V,2) polyint(I[0],2,np.array([1,2],'int32')) polyint(V,k=3)
    poly(W) poly(I[0]) poly(Z[0]) sort_complex(roots(V,strip_zeros=False)) vander(V) vander(C,3)
    vander(W,4,True) vander(W,0) polyfit(arange(4.0),V,2) polyfit(arange(4.0),A.T,1)
    polyfit(arange(4.0),V,1,w=abs(V)+1) polyfit(arange(4.0),V,1,cov=True)
    polyfit(arange(4.0),A.T,1,cov=True)
    polyfit(arange(4.0),V,1,cov='unscaled') polyfit(arange(4.0),V,1,full=True)
    """,
    NUMBERS,
    """
    histogram(B,4,weights=A) interp(A,sort(V),V) interp(B,sort(V),A[0]) cov(A) corrcoef(A)
    kron(A,B) vecdot(A,B) cross(A,B,axis=0) convolve(A[0],W,'same') correlate(A[0],V,'full')
    polyval(A[0],B) polyval(V,A) polymul(A[0],W) polydiv(A[0],W) polyint(A[0],2) polyder(A[0])
    poly(A[0]) vander(A[0]) polyfit(np.arange(4.0),A[0],2) matvec(A,V)
    bincount(abs(C),A.ravel()[:6],length=5)
    """,
)

FOURIER = Family(
    " ".join(
        [
            *(f"fft.{f}({x})" for f in ("fft", "ifft", "hfft", "fftn", "ifft2") for x in "AIZQ"),
            *(f"fft.{f}({x})" for f in ("rfft", "ihfft", "rfftn", "rfft2") for x in "AIQ"),
            *(f"fft.{f}({x})" for f in ("irfft", "irfftn", "irfft2") for x in "AZQ"),
            *(
                f"fft.{f}(A,{n},{axis},'{norm}')"
                for f in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
                for n, axis, norm in ((3, 0, "ortho"), (7, 1, "forward"), (None, -1, "backward"))
            ),
            *(
                f"fft.{f}(Q,{s},{axes},'{norm}')"
                for f in ("fftn", "ifftn", "rfftn", "irfftn")
                for s, axes, norm in (
                    ((3, 5), (0, 2), "ortho"),
                    (None, (2, 0), "forward"),
                    ((4, 3), (-1, 1), "backward"),
                )
            ),
            *(f"fft.{f}(Q[None,:,:2])" for f in ("fftn", "ifftn", "rfftn", "irfftn")),
            "fft.fftfreq(5) fft.fftfreq(6,0.5) fft.rfftfreq(5,2.0) fft.rfftfreq(6) fft.fftshift(A)",
            "fft.fftshift(V) fft.fftshift(Q,(0,2)) fft.ifftshift(W) fft.ifftshift(Q,1)",
            "fft.fft2(A,(5,2)) fft.fftfreq(4,dtype='float32')",
        ]
    ),
    COMMON,
    """
    fft.fft(A) fft.ifft(A,3,0,'ortho') fft.rfft(A) fft.irfft(A,5) fft.hfft(A) fft.ihfft(A)
    fft.fftn(A) fft.rfftn(A) fft.irfft2(A) fft.fftshift(A)
    """,
)

LINEAR = {
    **COMMON,
    "A": COMMON["M"],
    "B": operand((3, 2), "float32", 21),
    "Z": operand((3, 3), "complex64", 22),
    "G": operand((2, 3, 3), "float32", 23),
    "R": COMMON["A"],
    "P": DEFINITE,
    "I": operand((3, 3), "int32", 24),
    "F": operand((5, 5), "float32", 25),
    "D": operand((2, 3, 6), "float32", 26),
    "J": np.eye(3, dtype="float32"),
    "O": np.outer([1, 2, 3], [1, 0, 2]).astype("float32"),
}
LINEAR_ALGEBRA = Family(
    """
    linalg.solve(A,B) linalg.solve(A,W) linalg.solve(G,B) linalg.solve(Z,B) linalg.solve(I,W)
    linalg.solve(A,G) linalg.inv(A) linalg.inv(G) linalg.inv(Z) linalg.inv(P) linalg.det(A)
    linalg.det(G) linalg.det(Z) linalg.det(F) linalg.det(A[:2,:2]) linalg.det(I)
    linalg.det(A[:1,:1]) linalg.slogdet(A) linalg.slogdet(G) linalg.slogdet(Z) linalg.slogdet(O)
    linalg.slogdet(F) linalg.cholesky(P) linalg.cholesky(P,upper=True) linalg.cholesky(-P)
    linalg.cholesky(A,symmetrize_input=False)[...,0,0] linalg.qr(A,'r')*linalg.qr(A,'r')
    abs(linalg.qr(R)[0]) abs(linalg.qr(D,'complete')[1]) abs(linalg.qr(B).Q)
    linalg.svd(R,compute_uv=False) abs(linalg.svd(R,False)[0]) abs(linalg.svd(G).Vh)
    linalg.svd(Z)[1] linalg.svd(P,hermitian=True)[1] abs(linalg.svd(P,hermitian=True).U)
    linalg.svdvals(D) linalg.svdvals(I) linalg.eigh(P)[0] abs(linalg.eigh(P)[1]) linalg.eigvalsh(G)
    linalg.eigvalsh(A,'U',symmetrize_input=False) linalg.eigvalsh(Z)
    sort_complex(linalg.eigvals(A)) sort_complex(linalg.eigvals(I)) sort_complex(linalg.eig(Z)[0])
    linalg.pinv(A) linalg.pinv(R) linalg.pinv(O) linalg.pinv(D) linalg.pinv(Z)
    linalg.pinv(P,hermitian=True) linalg.pinv(G,rtol=0.5) linalg.lstsq(B,W) linalg.lstsq(R,W)
    linalg.lstsq(A,B) linalg.lstsq(O,W,rcond=1e-3) linalg.matrix_rank(A) linalg.matrix_rank(O)
    linalg.matrix_rank(G) linalg.matrix_rank(A,rtol=0.5) linalg.cond(A) linalg.cond(A,-2)
    linalg.cond(A,1) linalg.cond(G,'fro') linalg.cond(R) linalg.norm(A,2) linalg.norm(A,-2)
    linalg.norm(A,'nuc') linalg.norm(Q,2,(0,2)) linalg.norm(Q,'nuc',(2,1),True)
    linalg.matrix_norm(G) linalg.matrix_norm(G,ord=2) linalg.vector_norm(Q)
    linalg.vector_norm(Q,axis=(0,2),ord=1) linalg.vector_norm(A,axis=1,keepdims=True)
    linalg.matrix_power(A,3) linalg.matrix_power(I,0) linalg.matrix_power(G,-2)
    linalg.matrix_power(I,5) linalg.multi_dot([A,B,B.T]) linalg.multi_dot([W,A,R,V])
    linalg.multi_dot([A,I]) linalg.cross(A,G) linalg.outer(V,W) linalg.diagonal(G)
    linalg.diagonal(G,offset=1) linalg.trace(G) linalg.trace(I) linalg.matmul(A,B)
    linalg.matrix_transpose(G) linalg.tensordot(A,B,axes=1) linalg.vecdot(A,W)
    linalg.tensorinv(D.reshape(2,3,6)) linalg.tensorinv(G[0],1) linalg.tensorsolve(D,R[:2,:3])
    linalg.tensorsolve(D.transpose(0,2,1),R[:2,:3],axes=(1,))
    """,
    LINEAR,
    """
    linalg.solve(A,B) linalg.solve(P,A) linalg.inv(A) linalg.det(A) linalg.det(F+A[0,0])
    linalg.slogdet(A) linalg.cholesky(P+A@A.T) linalg.qr(A)[1]**2 linalg.svd(A,compute_uv=False)
    linalg.eigvalsh(A+A.T) linalg.eigh(A+A.T)[1]**2 linalg.pinv(A) linalg.pinv(A[:2])
    linalg.pinv(A[:,:2]) linalg.norm(A,2) linalg.norm(A,'nuc') linalg.cond(A)
    linalg.matrix_power(A,3) linalg.lstsq(A,B)[0] linalg.multi_dot([A,B,B.T])
    linalg.vector_norm(A,axis=0) abs(linalg.eigvals(A))
    """,
)

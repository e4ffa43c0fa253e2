"""Families of calls that `test_families.py` compares with JAX."""

import numpy as np
from _numpy_families import Family, operand

A, B = operand((3, 4), "float32", 1), operand((3, 4), "float32", 2)
I, J = operand((3, 4), "int32", 3), operand((3, 4), "int32", 4)
COMMON = {
    "A": A,
    "B": B,
    "I": I,
    "J": J,
    "U": operand((3, 4), "uint8", 5),
    "S": operand((3, 4), "int8", 6),
    "H": operand((3, 4), "float16", 7),
    "Z": operand((3, 4), "complex64", 8),
    "Y": operand((3, 4), "complex64", 9),
    "K": operand((3, 4), "bool", 10),
    "L": operand((4,), "bool", 11),
    "V": operand((4,), "float32", 12),
    "W": operand((3,), "float32", 13),
    "C": operand((6,), "int32", 14),
    "Q": operand((2, 3, 4), "float32", 15),
    "M": operand((3, 3), "float32", 16),
    "E": A[:0],
    "T": np.array([0.0, 0.5, 0.75], "float32"),
    "N": np.array([[1, "nan", 3, -2], ["nan"] * 4, [5, 0, "-inf", "inf"]], "float32"),
}

SORTING = Family(
    """
    sort(A) sort(A,0) sort(I,None) sort(N,descending=True) sort(N,1) sort(K) sort(H) sort(Z)
    sort(U,stable=False) sort(I,0,descending=True) argsort(A) argsort(I,0) argsort(I,None)
    argsort(I,descending=True) argsort(N) argsort(K,1) lexsort((I[0],J[0])) lexsort(I)
    lexsort((I,J),0) sort_complex(A[0]) sort_complex(Z[0]) sort_complex(I[0]) sort(partition(A,2))
    partition(A,1)[...,1] take_along_axis(A,argpartition(A,-2),1)[...,-2] sort(E,0)
    argsort(C,dtype='int32') median(A) median(A,0) median(I,1) median(N,1) nanmedian(N)
    nanmedian(N,1) nanmedian(N,0) quantile(A,0.3) quantile(A,T,axis=1)
    quantile(A,0.4,0,keepdims=True) quantile(I,0.25,(0,1)) quantile(A,0.7,1,method='lower')
    quantile(A,0.7,1,method='higher') quantile(A,0.7,1,method='midpoint')
    quantile(A,0.7,1,method='nearest') quantile(H,0.7) percentile(A,30.0) percentile(A,T*100,0)
    nanquantile(N,0.4,1) nanpercentile(N,25,1) nanquantile(N,T[1:],0,keepdims=True)
    percentile(I,50) searchsorted(sort(V),A) searchsorted(sort(C),I,'right')
    searchsorted(sort(N[0]),N[2]) searchsorted(V,A,sorter=argsort(V)) digitize(A,sort(V))
    digitize(I,-sort(-C)) digitize(I,sort(C),True) searchsorted(sort(V),V[0])
    searchsorted(sort(H[0]),H)
    """,
    COMMON,
    """
    sort(A) sort(A,0,descending=True) median(A,1) quantile(A,0.3,0) nanquantile(A,0.6)
    percentile(A,40.0,1) take_along_axis(A,argsort(B),1) partition(A,1)[...,1]
    """,
)

SETS = Family(
    """
    unique(C,size=5) unique(C,size=2) unique(C,size=8,fill_value=9)
    unique(I,True,True,True,size=12) unique(N,size=7) unique(N,size=12,equal_nan=False)
    unique(K,size=3) unique(Z,size=12) unique(I,axis=0,size=3)
    unique(S,axis=1,return_index=True,return_inverse=True,size=4)
    unique(K,axis=1,return_counts=True,size=5) unique_all(C,size=6) unique_counts(C,size=4)
    unique_inverse(I,size=9) unique_values(H,size=12) unique(E,size=0) union1d(I,C,size=9)
    union1d(I,V,size=20,fill_value=7) intersect1d(I,C,size=4) intersect1d(I,C,size=9,fill_value=-7)
    intersect1d(I,J,return_indices=True,size=5) setdiff1d(I,C,size=4)
    setdiff1d(C,I,size=6,fill_value=9) setdiff1d(C,J[0],assume_unique=True,size=6)
    setxor1d(I,C,size=5) setxor1d(C,J,size=3) isin(I,C) isin(A,V) isin(I,J[0],invert=True)
    isin(N,N[0]) isin(Z,Z[0]) isin(I,E) isin(C[0],I) nonzero(I,size=5)
    nonzero(K,size=12,fill_value=-1) nonzero(K,size=12,fill_value=(7,8)) nonzero(E,size=2)
    flatnonzero(A*K,size=4) argwhere(K,size=6) argwhere(I,size=12,fill_value=9)
    where(K,size=7,fill_value=5) where(K,A,B) extract(K,A,size=5) compress(L,A,1,size=3)
    compress(K.ravel(),A,size=4,fill_value=9) compress(L[:2],A,0,size=2) array_equiv(A,A[0])
    array_equiv(V,V[None]) select([K,A>0],[I,J],7) select([K],[A])
    choose(clip(I,0,2),[A,B,V],mode='clip') choose(I,[A,B],mode='wrap')
    piecewise(A,[A<0,A>1],[lambda x:-x,lambda x:x*2,5]) piecewise(A,[K],[lambda x,y:x*y,0],3.0)
    place(A,K,V,inplace=False) put(A,C,V,inplace=False) put(A,C*9,V,mode='clip',inplace=False)
    put(I,C*9,V,mode='wrap',inplace=False)
    """,
    COMMON,
    """
    extract(K,A,size=5) compress(L,A,1,size=3) select([K,B>0],[A,A*A],7) unique(A,size=12)
    choose(I,[A,B],mode='wrap') place(A,K,V,inplace=False) put(A,C,V,inplace=False)
    piecewise(A,[A<0,A>1],[lambda x:-x*x,lambda x:x*2,5])
    """,
)

INDEXING = Family(
    """
    take(A,C) take(A,np.array([0,-1]),1) take(A,np.array([[0,7]]),1) take(A,C,1,mode='clip')
    take(A,C*5,0,mode='wrap') take(I,np.array([9]),0) take(U,np.array([9]),0)
    take(K,np.array([9]),0) take(A,np.array([9,0]),0,fill_value=-1.0) take(A,2) take(Z,C,0)
    take_along_axis(A,clip(I,0,2),0) take_along_axis(A,I,1) take_along_axis(A,I[:,:1],1)
    take_along_axis(A,C,None) take_along_axis(A,I[:1],0) take_along_axis(A[:1],I,1)
    take_along_axis(A,I*3,1,mode='clip') take_along_axis(A,I*3,1,fill_value=7.0)
    put_along_axis(A,argmax(A,1,keepdims=True),9.0,1,inplace=False)
    put_along_axis(A,np.array([0,5]),np.array([1,2]),None,inplace=False) diagonal(A) diagonal(A,1)
    diagonal(Q,-1,1,2) diagonal(A,9) diagonal(Q,0,0,-1) diag(A) diag(V) diag(V,2) diag(W,-1)
    diag(I,-1) diagflat(A,1) diagflat(V[0],-2) trace(A) trace(I) trace(Q,1,2,0) trace(K)
    trace(S,dtype='float32') fill_diagonal(A,5,inplace=False) fill_diagonal(A,V[:2],inplace=False)
    diag_indices(3) diag_indices(2,3) diag_indices_from(M) tril_indices(3) tril_indices(3,-1,4)
    triu_indices(3,1) triu_indices(2,0,4) tril_indices_from(A) triu_indices_from(A,1)
    indices((2,3)) indices((2,3),'float32') indices((2,3),sparse=True) ix_(C[:2],C[2:])
    unravel_index(C,(2,3)) unravel_index(C*9,(2,3)) ravel_multi_index((C,C+1),(3,4),'wrap')
    ravel_multi_index((C,C),(3,4),'clip','F') mask_indices(3,triu,size=6) apply_along_axis(sum,0,A)
    apply_along_axis(lambda v:v[:2]*2,1,Q) apply_along_axis(lambda v:outer(v,v),-1,A)
    apply_over_axes(sum,Q,(0,2)) unstack(A) unstack(A,axis=1) append(A,B,0) append(A,I)
    block([[A,B],[I,J]]) block([V,V]) block(A) hsplit(A,2) hsplit(V,[1]) vsplit(A,3) dsplit(Q,2)
    resize(A,(5,3)) resize(I,7) resize(E,(2,2)) delete(A,1) delete(A,np.array([0,-1]),1)
    delete(A,slice(0,2),0) delete(V,np.array([True,False,False,True])) delete(A,-1,1)
    delete(A,np.array([0,2]),1,assume_unique_indices=True) insert(A,1,9)
    insert(A,np.array([0,2]),5.0,1) insert(A,1,V,0) insert(A,np.array([1]),W[:,None],1)
    insert(A,1,W,1) insert(A,np.array([0,0,3]),V[:3],1) insert(V,-1,7) insert(I,2,2.7,0)
    rollaxis(Q,2) rollaxis(Q,0,3) rollaxis(Q,-1,1) astype(A,'int32') copy(I)
    fromfunction(lambda i,j:i*j,(2,3)) logspace(0,2,4) logspace(A[0],2,3,base=2.0,axis=1)
    logspace(1,3,3,endpoint=False,dtype='int32') geomspace(1.0,64.0,4) geomspace(-1.0,-8.0,4)
    geomspace(1,1000,4,dtype='float32') geomspace(abs(V)+1,9.0,3,axis=-1) geomspace(1j,8j,3)
    geomspace(1.0,8.0,3,endpoint=False)
    """,
    COMMON,
    """
    take(A,C,1) take_along_axis(A,I,1) take_along_axis(A[:1],clip(I,0,2),1) diagonal(A,1)
    diag(A[0],1) trace(A) diagflat(A) fill_diagonal(A,5,inplace=False)
    fill_diagonal(B,A[0,:2],inplace=False) apply_along_axis(lambda v:outer(v,v),-1,A) unstack(A)
    block([[A,B],[I,A]]) resize(A,(5,3)) delete(A,np.array([0,-1]),1) insert(A,1,V,0)
    geomspace(abs(A)+1,9.0,3) logspace(A,2,3) put_along_axis(A,I[:,:1],9.0,1,inplace=False)
    """,
)

PADDING = Family(
    """
    pad(A,1) pad(A,((1,2),(0,1)),constant_values=3) pad(V,1,constant_values=(5,6)) pad(A,2,'edge')
    pad(A,((1,0),(2,3)),'edge') pad(A,1,'reflect') pad(A,((7,2),(5,9)),'reflect')
    pad(V[:1],3,'reflect') pad(A,((7,2),(5,9)),'symmetric') pad(A,((7,2),(5,9)),'wrap')
    pad(I,(3,2),'wrap') pad(V,(2,7),'reflect',reflect_type='odd')
    pad(V,(2,9),'symmetric',reflect_type='odd') pad(A,((1,2),(5,3)),'reflect',reflect_type='odd')
    pad(V,(2,3),'linear_ramp') pad(A,2,'linear_ramp',end_values=((1,2),(3,4)))
    pad(I,2,'linear_ramp',end_values=9) pad(A,2,'maximum') pad(A,2,'minimum',stat_length=2)
    pad(A,((1,2),(0,1)),'mean') pad(I,2,'mean',stat_length=((1,2),(3,1))) pad(A,1,'median')
    pad(Z,1,'mean') pad(U,(1,2),'symmetric') pad(V,1,'empty')[1:-1]
    """,
    COMMON,
    """
    pad(A,1,'edge') pad(A,((7,2),(5,9)),'reflect') pad(A,2,'wrap') pad(A,2,'linear_ramp')
    pad(A,2,'maximum') pad(A,2,'mean',stat_length=2) pad(A,(2,9),'symmetric',reflect_type='odd')
    """,
)

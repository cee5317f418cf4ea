//go:build !tinygo

#include "textflag.h"

// This file has the inner product with the vector instructions that every amd64 processor has. The four lanes of X0 are the four sums of
// dotGo, and the end adds them in the same order, so both give the same result to the last bit.

// func dotSSE(x, h []float32) float32
TEXT ·dotSSE(SB), NOSPLIT, $0-52
	MOVQ x_base+0(FP), SI
	MOVQ x_len+8(FP), CX
	MOVQ h_base+24(FP), DI
	XORPS X0, X0
	SHRQ $2, CX
	JZ sum

four:
	MOVUPS (SI), X1
	MOVUPS (DI), X2
	MULPS X2, X1
	ADDPS X1, X0
	ADDQ $16, SI
	ADDQ $16, DI
	DECQ CX
	JNZ four

sum:
	// X0 has a, b, c and d.
	MOVAPS X0, X1
	SHUFPS $0xB1, X1, X1 // b, a, d, c
	ADDPS X0, X1         // a+b, b+a, c+d, d+c
	MOVHLPS X1, X0       // c+d in the lowest lane
	ADDSS X0, X1
	MOVSS X1, ret+48(FP)
	RET

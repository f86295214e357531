#include "textflag.h"

// func fold(acc *[lane]byte, p *byte, blocks int, factors *[2]uint64)
TEXT ·fold(SB), NOSPLIT, $0-32
	MOVQ acc+0(FP), DI
	MOVQ p+8(FP), SI
	MOVQ blocks+16(FP), CX
	MOVQ factors+24(FP), DX
	VBROADCASTI32X4 (DX), Z8
	VMOVDQU64 (DI), Z0
	VMOVDQU64 64(DI), Z1
	VMOVDQU64 128(DI), Z2
	VMOVDQU64 192(DI), Z3

next:
	// first halves by the first factor, second halves by the second, and both added to what comes
	VPCLMULQDQ $0x00, Z8, Z0, Z4
	VPCLMULQDQ $0x00, Z8, Z1, Z5
	VPCLMULQDQ $0x00, Z8, Z2, Z6
	VPCLMULQDQ $0x00, Z8, Z3, Z7
	VPCLMULQDQ $0x11, Z8, Z0, Z0
	VPCLMULQDQ $0x11, Z8, Z1, Z1
	VPCLMULQDQ $0x11, Z8, Z2, Z2
	VPCLMULQDQ $0x11, Z8, Z3, Z3
	VPTERNLOGQ $0x96, (SI), Z4, Z0
	VPTERNLOGQ $0x96, 64(SI), Z5, Z1
	VPTERNLOGQ $0x96, 128(SI), Z6, Z2
	VPTERNLOGQ $0x96, 192(SI), Z7, Z3
	ADDQ $256, SI
	DECQ CX
	JNZ  next

	VMOVDQU64 Z0, (DI)
	VMOVDQU64 Z1, 64(DI)
	VMOVDQU64 Z2, 128(DI)
	VMOVDQU64 Z3, 192(DI)
	VZEROUPPER
	RET

package model

import "math"

// fit finds factors, none negative, so that the sum of factor times feature comes near each row's value; errors are
// relative to the value. It walks coordinate by coordinate, which for a handful of rows needs no more.
func fit(features [][]float64, values []float64) []float64 {
	n := len(features[0])
	rows := make([][]float64, len(features))
	scale := make([]float64, n)
	for i, f := range features {
		rows[i] = make([]float64, n)
		for j := range f {
			rows[i][j] = f[j] / values[i]
			scale[j] = max(scale[j], rows[i][j])
		}
	}
	x := make([]float64, n)
	for range 20_000 {
		moved := 0.0
		for j := range n {
			if scale[j] == 0 {
				continue
			}
			num, den := 0.0, 0.0
			for i := range rows {
				rest := 1.0
				for k := range n {
					if k != j {
						rest -= rows[i][k] * x[k]
					}
				}
				num += rest * rows[i][j]
				den += rows[i][j] * rows[i][j]
			}
			next := max(0, num/den)
			moved = max(moved, math.Abs(next-x[j])*scale[j])
			x[j] = next
		}
		if moved < 1e-9 {
			break
		}
	}
	return x
}

//! Element-wise steps of a transformer layer; on the processor fused and in place.
//!
//! Takes contiguous f32 tensors, changes them in place. On a GPU candle's own fused operations run. On the processor
//! candle allocates a tensor per step and calls `expf` and `erff` one number at a time, which together cost as much as
//! the matrix products; these loops vectorize. The parity tests hold their error (below 3e-7) to the reference.
//! Invariant: tensors are f32, contiguous, and not shared with another tensor.

use candle_core::{CpuStorage, InplaceOp1, InplaceOp2, Layout, Result, Tensor, bail};
use rayon::prelude::*;

use ragonite_inference::fast_exp;

/// Minimum of rows per task: enough work to be worth waking a thread.
const ROWS_AT_ONCE: usize = 32;

/// Number of independent partial sums of a row, so that additions need not wait for each other.
const SUMS: usize = 16;

/// Softmax over the last dimension.
pub(super) fn softmax(scores: Tensor) -> Result<Tensor> {
    if !scores.device().is_cpu() {
        return candle_nn::ops::softmax_last_dim(&scores);
    }
    scores.inplace_op1(&Softmax)?;
    Ok(scores)
}

/// Adds `bias` to every row.
pub(super) fn add_bias(rows: Tensor, bias: &Tensor) -> Result<Tensor> {
    if !rows.device().is_cpu() {
        return rows.broadcast_add(bias);
    }
    rows.inplace_op2(bias, &AddBias)?;
    Ok(rows)
}

/// Adds `bias` to every row and applies GELU (the exact one with the error function).
pub(super) fn add_bias_gelu(rows: Tensor, bias: &Tensor) -> Result<Tensor> {
    if !rows.device().is_cpu() {
        return gelu_by_candle(&rows, bias);
    }
    rows.inplace_op2(bias, &AddBiasGelu)?;
    Ok(rows)
}

fn gelu_by_candle(rows: &Tensor, bias: &Tensor) -> Result<Tensor> {
    rows.broadcast_add(bias)?.gelu_erf()
}

/// Layer normalization of `rows + residual`.
pub(super) struct Norm {
    /// Gain and shift on the device of the weights, for a GPU.
    tensors: (Tensor, Tensor),
    gain: Vec<f32>,
    shift: Vec<f32>,
    epsilon: f32,
}

impl Norm {
    pub(super) fn new(gain: &Tensor, shift: &Tensor, epsilon: f32) -> Result<Self> {
        let tensors = (gain.clone(), shift.clone());
        Ok(Self { tensors, gain: gain.to_vec1()?, shift: shift.to_vec1()?, epsilon })
    }

    /// Normalizes every row of `rows + residual`.
    pub(super) fn add_and_normalize(&self, rows: Tensor, residual: &Tensor) -> Result<Tensor> {
        if !rows.device().is_cpu() {
            return self.by_candle(&rows, residual);
        }
        rows.inplace_op2(residual, self)?;
        Ok(rows)
    }

    fn by_candle(&self, rows: &Tensor, residual: &Tensor) -> Result<Tensor> {
        let (gain, shift) = &self.tensors;
        candle_nn::ops::layer_norm(&(rows + residual)?, gain, shift, self.epsilon)
    }

    fn normalize(&self, row: &mut [f32]) {
        let count = row.len() as f32;
        let mean = sum(row) / count;
        for value in row.iter_mut() {
            *value -= mean;
        }
        let variance = sum_of_squares(row) / count;
        let scale = 1.0 / (variance + self.epsilon).sqrt();
        for ((value, gain), shift) in row.iter_mut().zip(&self.gain).zip(&self.shift) {
            *value = *value * scale * gain + shift;
        }
    }
}

struct Softmax;
struct AddBias;
struct AddBiasGelu;

impl InplaceOp1 for Softmax {
    fn name(&self) -> &'static str {
        "softmax-in-place"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let width = row_width(layout)?;
        each_row(values_mut(storage, layout)?, width, |_, row| {
            let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            for value in row.iter_mut() {
                *value = fast_exp(*value - most);
            }
            let scale = 1.0 / sum(row);
            for value in row.iter_mut() {
                *value *= scale;
            }
        });
        Ok(())
    }
}

impl InplaceOp2 for AddBias {
    fn name(&self) -> &'static str {
        "add-bias-in-place"
    }

    fn cpu_fwd(&self, rows: &mut CpuStorage, l1: &Layout, bias: &CpuStorage, l2: &Layout) -> Result<()> {
        let bias = values(bias, l2)?;
        each_row(values_mut(rows, l1)?, bias.len(), |_, row| {
            for (value, bias) in row.iter_mut().zip(bias) {
                *value += bias;
            }
        });
        Ok(())
    }
}

impl InplaceOp2 for AddBiasGelu {
    fn name(&self) -> &'static str {
        "add-bias-gelu-in-place"
    }

    fn cpu_fwd(&self, rows: &mut CpuStorage, l1: &Layout, bias: &CpuStorage, l2: &Layout) -> Result<()> {
        let bias = values(bias, l2)?;
        each_row(values_mut(rows, l1)?, bias.len(), |_, row| {
            for (value, bias) in row.iter_mut().zip(bias) {
                *value = gelu(*value + bias);
            }
        });
        Ok(())
    }
}

impl InplaceOp2 for Norm {
    fn name(&self) -> &'static str {
        "add-and-normalize-in-place"
    }

    fn cpu_fwd(&self, rows: &mut CpuStorage, l1: &Layout, residual: &CpuStorage, l2: &Layout) -> Result<()> {
        let residual = values(residual, l2)?;
        let width = self.gain.len();
        let rows = values_mut(rows, l1)?;
        if rows.len() != residual.len() {
            bail!("a residual of {} numbers for rows of {}", residual.len(), rows.len());
        }
        each_row(rows, width, |index, row| {
            for (value, residual) in row.iter_mut().zip(&residual[index * width..]) {
                *value += residual;
            }
            self.normalize(row);
        });
        Ok(())
    }
}

fn each_row(values: &mut [f32], width: usize, on_row: impl Fn(usize, &mut [f32]) + Sync) {
    let rows = values.par_chunks_exact_mut(width.max(1)).with_min_len(ROWS_AT_ONCE);
    rows.enumerate().for_each(|(index, row)| on_row(index, row));
}

fn row_width(layout: &Layout) -> Result<usize> {
    match layout.dims().last() {
        Some(width) => Ok(*width),
        None => bail!("a tensor without dimensions has no rows"),
    }
}

fn values<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(values), Some((start, end))) => Ok(&values[start..end]),
        _ => bail!("expected contiguous f32"),
    }
}

fn values_mut<'a>(storage: &'a mut CpuStorage, layout: &Layout) -> Result<&'a mut [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(values), Some((start, end))) => Ok(&mut values[start..end]),
        _ => bail!("expected contiguous f32"),
    }
}

fn sum(row: &[f32]) -> f32 {
    sum_by(row, |value| value)
}

fn sum_of_squares(row: &[f32]) -> f32 {
    sum_by(row, |value| value * value)
}

fn sum_by(row: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0_f32; SUMS];
    let mut blocks = row.chunks_exact(SUMS);
    for block in &mut blocks {
        for (sum, value) in sums.iter_mut().zip(block) {
            *sum += of(*value);
        }
    }
    let rest: f32 = blocks.remainder().iter().map(|value| of(*value)).sum();
    sums.iter().sum::<f32>() + rest
}

/// x/2 (1 + erf(x / sqrt 2)); erf by Abramowitz and Stegun 7.1.26, absolute error below 1.5e-7.
#[inline]
fn gelu(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = t * (0.254_829_6 + t * (-0.284_496_72 + t * (1.421_413_8 + t * (-1.453_152_1 + t * 1.061_405_4))));
    let erf = 1.0 - series * fast_exp(-z * z);
    0.5 * x * (1.0 + erf.copysign(x))
}

#[cfg(test)]
mod tests {
    use candle_core::{D, Device};

    use super::*;

    fn largest_difference(a: &Tensor, b: &Tensor) -> f32 {
        let difference = (a - b).unwrap().abs().unwrap().flatten_all().unwrap();
        difference.max(D::Minus1).unwrap().to_scalar().unwrap()
    }

    fn rows(scale: f32) -> Tensor {
        let values: Vec<f32> = (0..7 * 50).map(|i| ((i * 37 % 101) as f32 / 50.0 - 1.0) * scale).collect();
        Tensor::from_vec(values, (7, 50), &Device::Cpu).unwrap()
    }

    #[test]
    fn softmax_is_that_of_candle() {
        for scale in [0.1, 5.0, 300.0] {
            let expected = candle_nn::ops::softmax_last_dim(&rows(scale)).unwrap();
            let scores = softmax(rows(scale)).unwrap();
            assert!(largest_difference(&scores, &expected) < 1e-6);
        }
    }

    #[test]
    fn gelu_is_the_exact_one() {
        for scale in [0.1, 1.0, 4.0, 20.0] {
            let bias =
                Tensor::from_vec((0..50).map(|i| i as f32 / 100.0).collect::<Vec<_>>(), 50, &Device::Cpu).unwrap();
            let expected = gelu_by_candle(&rows(scale), &bias).unwrap();
            let values = add_bias_gelu(rows(scale), &bias).unwrap();
            assert!(largest_difference(&values, &expected) < 2e-6 * scale.max(1.0));
        }
    }

    #[test]
    fn rows_are_normalized_after_the_addition() {
        let gain =
            Tensor::from_vec((0..50).map(|i| 1.0 + i as f32 / 50.0).collect::<Vec<_>>(), 50, &Device::Cpu).unwrap();
        let shift = (&gain * 0.3).unwrap();
        let expected = candle_nn::LayerNorm::new(gain.clone(), shift.clone(), 1e-5);
        let expected = candle_nn::Module::forward(&expected, &(rows(3.0) + rows(1.0)).unwrap()).unwrap();
        let norm = Norm::new(&gain, &shift, 1e-5).unwrap();
        let values = norm.add_and_normalize(rows(3.0), &rows(1.0)).unwrap();
        assert!(largest_difference(&values, &expected) < 2e-6);
        let as_on_a_gpu = norm.by_candle(&rows(3.0), &rows(1.0)).unwrap();
        assert!(largest_difference(&as_on_a_gpu, &expected) < 2e-6);
    }
}

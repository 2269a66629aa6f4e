//! A fast `exp`, in a form that the compiler vectorizes.
//!
//! Invariant: the same number gives the same result, whatever stands beside it.
//! Not here: its uses (`encoder`, `logprob_delta`).

/// e^x for x <= 0, relative error below 3e-7; numbers below e^-87 count as that.
#[inline]
pub fn fast_exp(x: f32) -> f32 {
    // Adding 1.5 * 2^23 rounds to a whole number that can be read from the lowest bits.
    const ROUNDER: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_145_75;
    const LN_2_LOW: f32 = 1.428_606_8e-6;
    let x = x.max(-87.0);
    let rounded = x * std::f32::consts::LOG2_E + ROUNDER;
    let whole = rounded - ROUNDER;
    let r = x - whole * LN_2_HIGH - whole * LN_2_LOW;
    let series = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r / 720.0)))));
    let power = rounded.to_bits().wrapping_sub(ROUNDER.to_bits()).wrapping_add(127) << 23;
    series * f32::from_bits(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_those_of_the_library() {
        assert_eq!(fast_exp(0.0).to_bits(), 1.0_f32.to_bits());
        for step in 0..8700_u16 {
            let x = -f32::from(step) / 100.0;
            let exact = f64::from(x).exp();
            assert!((f64::from(fast_exp(x)) / exact - 1.0).abs() < 3e-7, "{x}");
        }
        assert!(fast_exp(f32::NEG_INFINITY) < 1e-37);
    }
}

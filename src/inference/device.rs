//! What this machine computes with.

/// What encoders and generators run on, in words: `CPU, 2 threads, AVX-512`.
pub fn device_summary() -> String {
    let mut parts = vec!["CPU".to_owned()];
    parts.push(match compute_threads() {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads"),
    });
    parts.extend(vector_units().map(str::to_owned));
    parts.join(", ")
}

/// Threads worth starting for matrix work: the physical cores, or fewer where the process is limited to fewer.
/// The second thread of a core shares its vector units and only gets in the way.
pub fn compute_threads() -> usize {
    let allowed = std::thread::available_parallelism().map_or(1, usize::from);
    candle_core::utils::get_num_threads().clamp(1, allowed)
}

/// The widest vector instructions of this processor that the kernels can use.
#[cfg(target_arch = "x86_64")]
fn vector_units() -> Option<&'static str> {
    if std::is_x86_feature_detected!("avx512f") {
        Some("AVX-512")
    } else if std::is_x86_feature_detected!("avx2") {
        Some("AVX2")
    } else if std::is_x86_feature_detected!("avx") {
        Some("AVX")
    } else {
        None
    }
}

#[cfg(target_arch = "aarch64")]
fn vector_units() -> Option<&'static str> {
    Some("NEON")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn vector_units() -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_processor_and_threads() {
        let summary = device_summary();
        assert!(summary.starts_with("CPU, ") && summary.contains("thread"), "{summary}");
    }
}

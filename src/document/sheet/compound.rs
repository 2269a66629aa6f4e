//! Whether a compound file, which XLS workbooks are, can be read in bounded memory.
//!
//! Takes the bytes of the file. Its sectors form chains, and the reader follows a chain to its end however often it
//! comes by the same sector: a file of 5 KB can fill the memory.
//! Invariant: in what passes, no chain is a circle and the table of chains is no larger than the file.
//! Not here: reading it (`workbook`).

/// Numbers from here on are no sectors.
const NO_SECTOR: u32 = 0xffff_fffa;
/// The first bytes, which describe the file.
const HEADER: usize = 512;

/// Whether the reader comes to an end; false also where the file does not hold its own table of chains.
pub(super) fn has_an_end(bytes: &[u8]) -> bool {
    chains(bytes).is_some_and(|next| !has_circle(&next))
}

/// The sector that follows each sector.
fn chains(bytes: &[u8]) -> Option<Vec<u32>> {
    let size = match bytes.get(30..32)? {
        [9, 0] => 512,
        [12, 0] => 4_096,
        _ => return None,
    };
    let sector = |id: u32| {
        let start = (id as usize).checked_add(1)?.checked_mul(size)?;
        bytes.get(start..start.checked_add(size)?).map(numbers)
    };
    let most = bytes.len() / size;
    // Which sectors hold the table: a list that starts in the header and goes on in sectors of its own.
    let mut listed: Vec<u32> = numbers(bytes.get(76..HEADER)?).collect();
    let mut more = numbers(bytes.get(68..72)?).next()?;
    for _ in 0..=most {
        if more >= NO_SECTOR {
            break;
        }
        listed.extend(sector(more)?);
        more = listed.pop()?;
    }
    listed.retain(|id| *id < NO_SECTOR);
    if more < NO_SECTOR || listed.len() > most {
        return None;
    }
    let mut next = Vec::with_capacity(listed.len() * size / 4);
    for id in listed {
        next.extend(sector(id)?);
    }
    Some(next)
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks_exact(4).filter_map(|four| four.try_into().ok().map(u32::from_le_bytes))
}

/// Follows every chain once.
fn has_circle(next: &[u32]) -> bool {
    // The walk that came by first, from 1.
    let mut seen = vec![0u32; next.len()];
    for (walk, start) in (1u32..).zip(0..next.len()) {
        let mut at = start;
        while let Some(by) = seen.get_mut(at) {
            match *by {
                0 => *by = walk,
                _ if *by == walk => return true,
                _ => break,
            }
            at = next.get(at).map_or(usize::MAX, |id| *id as usize);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::sheet::workbook::read_workbook;

    const FLEET: &[u8] = include_bytes!("../../../tests/fixtures/documents/sheets/fleet.xls");

    /// Where the table of chains has the successor of a sector.
    fn entry(sector: usize) -> usize {
        let table = u32::from_le_bytes(FLEET[76..80].try_into().unwrap()) as usize;
        (table + 1) * 512 + sector * 4
    }

    #[test]
    fn a_chain_that_is_a_circle_is_refused() {
        assert!(has_an_end(FLEET));
        let directory = u32::from_le_bytes(FLEET[48..52].try_into().unwrap());
        let mut bytes = FLEET.to_vec();
        let at = entry(directory as usize);
        bytes[at..at + 4].copy_from_slice(&directory.to_le_bytes());
        assert!(!has_an_end(&bytes));
        assert!(read_workbook(&bytes).is_err());
    }

    #[test]
    fn a_table_of_chains_that_is_larger_than_its_file_is_refused() {
        let mut bytes = FLEET.to_vec();
        for at in (80..HEADER).step_by(4) {
            bytes.copy_within(76..80, at);
        }
        assert!(!has_an_end(&bytes));
    }

    #[test]
    fn a_truncated_file_is_refused() {
        for length in [0, 20, 100, HEADER, HEADER + 1] {
            assert!(!has_an_end(&FLEET[..length]), "{length}");
        }
    }

    #[test]
    fn circles_are_told_from_chains_that_meet() {
        let end = 0xffff_fffe;
        assert!(!has_circle(&[1, 2, end, 2, end]));
        assert!(has_circle(&[1, 2, 1]) && has_circle(&[0]) && has_circle(&[end, 2, 1]));
    }
}

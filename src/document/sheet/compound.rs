//! Resource preflight of compound files (XLS): whether one can be read in bounded memory; and its workbook stream.
//!
//! Takes the bytes of the file. Its sectors form chains, which the reader follows to their end even in a cycle: a file
//! of 5 KB can fill the memory.
//! Invariants: in an accepted file, no chain is a cycle and the table of chains is no larger than the file; a
//! [`Stream`] equals the workbook stream of the reader byte by byte, or there is none.
//! Not here: the meaning of the stream (`records`), reading it (`workbook`).

use encoding_rs::UTF_16LE;

/// Numbers from here on are not sectors.
const NO_SECTOR: u32 = 0xffff_fffa;
/// The first bytes, which describe the file.
const HEADER: usize = 512;

/// The number after the last sector of a chain.
const END: u32 = 0xffff_fffe;
/// An entry of the directory.
const ENTRY: usize = 128;
/// Streams below this size are in small sectors, which lie in a stream of their own.
const SMALL_STREAM: usize = 4_096;
const SMALL_SECTOR: usize = 64;

/// Whether no chain is a cycle; false also if the file does not hold its own table of chains.
pub(super) fn has_an_end(bytes: &[u8]) -> bool {
    chains(bytes).is_some_and(|next| !has_circle(&next))
}

/// Bytes of a sector.
pub(super) fn sector_size(bytes: &[u8]) -> Option<usize> {
    match bytes.get(30..32)? {
        [9, 0] => Some(512),
        [12, 0] => Some(4_096),
        _ => None,
    }
}

/// A stream and the positions of its pieces in the file.
pub(super) struct Stream {
    pub data: Vec<u8>,
    starts: Vec<usize>,
    piece: usize,
}

impl Stream {
    /// The position in the file of a byte of the stream.
    pub(super) fn place(&self, at: usize) -> Option<usize> {
        self.starts.get(at / self.piece).map(|start| start + at % self.piece)
    }
}

/// The stream with the workbook, as the reader finds it: the first of its name. The file ends with a whole sector.
pub(super) fn workbook(bytes: &[u8]) -> Option<Stream> {
    let size = sector_size(bytes)?;
    let next = chains(bytes)?;
    let start = |id: u32| (id as usize).checked_add(1)?.checked_mul(size);
    let big = Space { next: &next, piece: size, of: bytes, start: &start };
    let directory = big.stream(number(bytes, 48)?, usize::MAX)?;
    let mut entries = directory.data.chunks_exact(ENTRY);
    let root = entries.next()?;
    let named = |wanted: &str| directory.data.chunks_exact(ENTRY).find(|entry| is_named(entry, wanted));
    let entry = named("Workbook").or_else(|| named("Book"))?;
    let length = length(entry, size)?;
    if length >= SMALL_STREAM {
        return big.stream(number(entry, 116)?, length);
    }
    let tables = (number(bytes, 64)? as usize).checked_mul(size)?;
    if tables == 0 {
        return None;
    }
    let host = big.stream(number(root, 116)?, self::length(root, size)?)?;
    let table = big.stream(number(bytes, 60)?, tables)?;
    let next: Vec<u32> = numbers(&table.data).collect();
    let start = |id: u32| (id as usize).checked_mul(SMALL_SECTOR);
    let small = Space { next: &next, piece: SMALL_SECTOR, of: &host.data, start: &start }
        .stream(number(entry, 116)?, length)?;
    let starts = small.starts.iter().map(|at| host.place(*at)).collect::<Option<_>>()?;
    Some(Stream { starts, ..small })
}

fn is_named(entry: &[u8], wanted: &str) -> bool {
    let name = UTF_16LE.decode(&entry[..64]).0;
    name.split('\0').next().is_some_and(|name| name.eq_ignore_ascii_case(wanted))
}

fn length(entry: &[u8], size: usize) -> Option<usize> {
    let low = number(entry, 120)? as usize;
    // The upper half is undefined in files with small sectors.
    if size == 512 { Some(low) } else { (number(entry, 124)? as usize).checked_mul(1 << 32)?.checked_add(low) }
}

/// Sectors of one size and their successors.
struct Space<'a> {
    next: &'a [u32],
    piece: usize,
    of: &'a [u8],
    start: &'a dyn Fn(u32) -> Option<usize>,
}

impl Space<'_> {
    fn stream(&self, first: u32, length: usize) -> Option<Stream> {
        let mut stream = Stream { data: Vec::new(), starts: Vec::new(), piece: self.piece };
        let mut id = first;
        while id != END {
            // Without a cycle a chain has each sector once.
            if stream.starts.len() > self.next.len() {
                return None;
            }
            let start = (self.start)(id)?;
            let wanted = self.piece.min(length - stream.data.len());
            stream.data.extend_from_slice(self.of.get(start..start.checked_add(wanted)?)?);
            stream.starts.push(start);
            if stream.data.len() >= length {
                break;
            }
            id = *self.next.get(id as usize)?;
        }
        Some(stream)
    }
}

/// The sector that follows each sector.
fn chains(bytes: &[u8]) -> Option<Vec<u32>> {
    let size = sector_size(bytes)?;
    let sector = |id: u32| {
        let start = (id as usize).checked_add(1)?.checked_mul(size)?;
        bytes.get(start..start.checked_add(size)?).map(numbers)
    };
    let most = bytes.len() / size;
    // The sectors of the table: a list that starts in the header and continues in sectors of its own.
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

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    numbers(bytes.get(at..at.checked_add(4)?)?).next()
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
    use crate::sheet::tests::read_workbook;

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

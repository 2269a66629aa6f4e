//! A map of llama.cpp's KV cells: which sequences own each cell, and at which position.
//!
//! Takes what is decoded, copied and removed; tells whether the next tokens of a sequence land behind its earlier ones.
//! llama.cpp puts a token into the first free cell and computes attention in cell order, so a token in front of its
//! predecessors rounds differently.
//! Invariant: the map equals llama.cpp's unified cache, where all layers see the whole context.
//! Not here: moving cells (`kv_cache`).

use std::ops::Range;

use super::engine::Sequence;

/// One cell: its owners and its token's position.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    /// One bit per sequence.
    owners: u32,
    position: usize,
}

/// All cells in llama.cpp's order.
#[derive(Debug)]
pub(super) struct CellMap {
    cells: Vec<Cell>,
    /// Number of cells, used or not.
    all: usize,
}

fn bit(sequence: Sequence) -> u32 {
    1 << sequence.0
}

impl CellMap {
    pub(super) fn new(all: usize) -> Self {
        Self { cells: Vec::new(), all }
    }

    /// Number of cells.
    pub(super) fn all(&self) -> usize {
        self.all
    }

    /// Number of free cells.
    pub(super) fn free(&self) -> usize {
        self.all - self.cells.iter().filter(|cell| cell.owners != 0).count()
    }

    /// Whether a free cell lies in front of a used one.
    pub(super) fn has_gaps(&self) -> bool {
        self.cells.iter().any(|cell| cell.owners == 0)
    }

    /// Whether each sequence keeps its cells in token order after reading so many more tokens.
    pub(super) fn stay_in_order(&self, pieces: impl IntoIterator<Item = (Sequence, usize)>) -> bool {
        let gaps = self.cells.iter().enumerate().filter(|(_, cell)| cell.owners == 0).map(|(at, _)| at);
        let mut free = gaps.chain(self.cells.len()..);
        pieces.into_iter().all(|(sequence, tokens)| {
            let last = self.cells.iter().rposition(|cell| cell.owners & bit(sequence) != 0);
            let first = free.next();
            free.by_ref().take(tokens.saturating_sub(1)).for_each(drop);
            last < first
        })
    }

    /// Records `tokens` tokens of `sequence`, the first at `position`.
    pub(super) fn read(&mut self, sequence: Sequence, tokens: usize, position: usize) {
        let mut at = 0;
        for position in position..position + tokens {
            at += self.cells[at..].iter().take_while(|cell| cell.owners != 0).count();
            if at == self.cells.len() {
                self.cells.push(Cell::default());
            }
            self.cells[at] = Cell { owners: bit(sequence), position };
        }
    }

    /// Records that `to` shares the cells of `from` at these positions.
    pub(super) fn copy(&mut self, from: Sequence, to: Sequence, positions: Range<usize>) {
        for cell in &mut self.cells {
            if cell.owners & bit(from) != 0 && positions.contains(&cell.position) {
                cell.owners |= bit(to);
            }
        }
    }

    /// Records that `sequence` gave up its cells at these positions.
    pub(super) fn remove(&mut self, sequence: Sequence, positions: Range<usize>) {
        for cell in &mut self.cells {
            if positions.contains(&cell.position) {
                cell.owners &= !bit(sequence);
            }
        }
        let used = self.cells.iter().rposition(|cell| cell.owners != 0).map_or(0, |last| last + 1);
        self.cells.truncate(used);
    }

    /// Records that all cells are free.
    pub(super) fn clear(&mut self) {
        self.cells.clear();
    }

    /// Positions of a sequence in cell order.
    pub(super) fn positions(&self, sequence: Sequence) -> Vec<usize> {
        self.cells.iter().filter(|cell| cell.owners & bit(sequence) != 0).map(|cell| cell.position).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const A: Sequence = Sequence(0);
    const B: Sequence = Sequence(1);

    #[test]
    fn what_is_forgotten_in_front_of_another_sequence_is_a_gap() {
        let mut cells = CellMap::new(20);
        cells.read(A, 5, 0);
        cells.read(B, 5, 0);
        assert!(!cells.has_gaps() && cells.stay_in_order([(A, 3), (B, 3)]));
        cells.remove(A, 3..usize::MAX);
        assert!(cells.has_gaps());
        assert!(cells.stay_in_order([(A, 9)]), "over the gap and on behind the other");
        assert!(!cells.stay_in_order([(B, 1)]), "into the gap");
        assert!(cells.stay_in_order([(A, 2), (B, 1)]), "the gap is filled by then");
        assert_eq!((cells.free(), cells.positions(A).len(), cells.positions(B).len()), (12, 3, 5));
        cells.read(A, 3, 3);
        assert_eq!(cells.positions(A), [0, 1, 2, 3, 4, 5]);
        assert!(!cells.has_gaps() && cells.stay_in_order([(A, 1), (B, 1)]));
    }

    #[test]
    fn what_two_sequences_share_is_there_until_both_have_forgotten_it() {
        let mut cells = CellMap::new(20);
        cells.read(A, 6, 0);
        cells.copy(A, B, 0..4);
        cells.read(B, 2, 4);
        cells.remove(A, 0..usize::MAX);
        assert_eq!((cells.free(), cells.positions(A).len(), cells.positions(B).len()), (14, 0, 6));
        assert!(cells.stay_in_order([(A, 9)]), "nothing lies behind");
        assert!(!cells.stay_in_order([(B, 1)]));
        cells.remove(B, 0..usize::MAX);
        assert_eq!(cells.free(), 20);
        assert!(!cells.has_gaps());
    }

    proptest! {
        #[test]
        fn what_stays_in_order_is_in_order_when_it_is_read(
            steps in proptest::collection::vec((0_usize..3, 0_usize..3, 0_usize..6), 1..40),
        ) {
            let mut cells = CellMap::new(1_000);
            for (what, sequence, tokens) in steps {
                let sequence = Sequence(sequence);
                let next = cells.positions(sequence).iter().max().map_or(0, |last| last + 1);
                match what {
                    0 => cells.remove(sequence, tokens..usize::MAX),
                    1 if cells.positions(A).is_empty() => cells.copy(sequence, A, 0..tokens),
                    _ if cells.stay_in_order([(sequence, tokens)]) => cells.read(sequence, tokens, next),
                    _ => {}
                }
                for sequence in [0, 1, 2].map(Sequence) {
                    prop_assert!(cells.positions(sequence).is_sorted());
                }
            }
        }
    }
}

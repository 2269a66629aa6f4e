//! Spreadsheets (XLSX, XLSM, XLSB, XLS, ODS) and delimited text (CSV, TSV).
//!
//! Takes bytes or text; gives a [`Document`] with, per visible sheet, a heading and its tables, titles and remarks.
//! Values are written as shown (`number`), formulas as their last results, dates as ISO dates; comments follow their
//! cell in brackets. Hidden sheets, charts, pictures and pivot caches are left out.
//! Invariants: as for packages (`package`); cells and their text are bounded over the whole file.

mod claims;
mod compound;
mod delimited;
mod layout;
mod number;
mod open;
mod records;
mod sheet_meta;
mod workbook;

#[cfg(test)]
pub(super) mod tests;

pub(super) use delimited::read_delimited;
pub(super) use workbook::read_workbook;

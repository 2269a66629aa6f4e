//! Texts of the document view.

use crate::messages::texts;

texts! { DOCUMENT
    document = "Document", "Dokument";
    document_gone =
        "The domain does not have this document any more.", "Die Domäne hat dieses Dokument nicht mehr.";
    opening_document = "Opening the document…", "Das Dokument wird geöffnet…";
    not_in_document(text: &str) = "! “{text}” is not in it", "! „{text}“ kommt nicht vor";
    part_of_document(part: &str, parts: &str) = "part {part} of {parts}", "Teil {part} von {parts}";
    found_here = "▌ found here · ", "▌ Fundstelle · ";
}

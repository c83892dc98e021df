// Byte-pair encoding (Sennrich et al. 2016) as `data/subwords.py` does it: a text to ids, and ids back to a text.
"use strict";

class Subwords {
  // saved: what subwords.json holds.
  constructor(saved) {
    this.ids = new Map(Object.entries(saved.model.vocab));
    this.ranks = new Map(saved.model.merges.map((pair, rank) => [pair.join(" "), rank]));
    // A byte that draws no visible Latin-1 character is spelled as a character from 256 on.
    const isVisible = (byte) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    let next = 256;
    this.spelled = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isVisible(byte) ? byte : next++));
    this.bytes = new Map(this.spelled.map((character, byte) => [character, byte]));
    this.pieces = []; // id → its bytes; none for padding, begin and end
    for (const [token, id] of this.ids) {
      this.pieces[id] = id < 4 ? [] : Array.from(token, (character) => this.bytes.get(character));
    }
  }

  // Words, numbers and punctuation never share a subword; a space belongs to the word after it.
  encode(text) {
    const tidy = text.normalize("NFC").split(/\s+/).filter(Boolean).join(" ");
    const parts = tidy ? ` ${tidy}`.match(/'(?:s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+/gu) : [];
    return parts.flatMap((part) => this.merged(part).map((token) => this.ids.get(token)));
  }

  // Begin with single bytes, and again and again join the two neighbours that were learned first.
  merged(part) {
    const tokens = Array.from(new TextEncoder().encode(part), (byte) => this.spelled[byte]);
    for (;;) {
      let best = Infinity, at = -1;
      for (let i = 0; i + 1 < tokens.length; i++) {
        const rank = this.ranks.get(`${tokens[i]} ${tokens[i + 1]}`) ?? Infinity;
        if (rank < best) [best, at] = [rank, i];
      }
      if (at < 0) return tokens;
      tokens.splice(at, 2, tokens[at] + tokens[at + 1]);
    }
  }

  decode(ids) {
    const bytes = ids.flatMap((id) => this.pieces[id]);
    return new TextDecoder().decode(new Uint8Array(bytes)).replace(/^ /, "");
  }

  // An id's own text, ▁ for a space.
  token(id) {
    if (id === 2) return "EOS";
    const text = new TextDecoder().decode(new Uint8Array(this.pieces[id])).replaceAll(" ", "▁");
    if (!text.includes("\ufffd")) return text;
    // Of a letter or sign that is cut into its bytes, such as an emoji, these are shown as Python writes them.
    return this.pieces[id].map((byte) => (byte === 0x20 ? "▁" : byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`)).join("");
  }

  // The same without the space before it, as one shows it.
  word(id) {
    return this.token(id).replace(/^▁/, "") || "▁";
  }
}

/** The beginning of a JSON text, over several lines. */
export interface JsonLines {
  readonly text: string;
  /** Whether the whole text is there. */
  readonly whole: boolean;
}

/**
 * Lays out the beginning of a JSON text. Its characters stay as they are, so that no number is
 * rounded, and what is beyond `most` characters costs nothing.
 *
 * @example jsonLines('{"a":[1,2]}', 1000).text // '{\n  "a": [\n    1,\n    2\n  ]\n}'
 */
export function jsonLines(json: string, most: number): JsonLines {
  let [text, depth, at] = ['', 0, 0];
  const newLine = () => `\n${'  '.repeat(depth)}`;
  for (const token of tokens(json)) {
    if (text.length > most) return { text: text.slice(0, most), whole: false };
    at += 1;
    if (token === '{' || token === '[') {
      depth += 1;
      text += token + newLine();
    } else if (token === '}' || token === ']') {
      depth -= 1;
      text = /[{[]\s*$/.test(text.slice(-200)) ? text.trimEnd() + token : text + newLine() + token;
    } else if (token === ',') text += token + newLine();
    else text += token === ':' ? ': ' : token;
  }
  return text.length > most ? { text: text.slice(0, most), whole: false } : { text, whole: at > 0 };
}

/** Strings, punctuation, and the rest. A string that does not end is taken as it is. */
function* tokens(json: string): Generator<string> {
  const next = /"(?:[^"\\]|\\[^])*"?|[{}[\],:]|[^\s"{}[\],:]+/g;
  for (let found = next.exec(json); found; found = next.exec(json)) yield found[0];
}

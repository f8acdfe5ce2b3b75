/** A cell of a Markdown table: one line, in which no character ends the cell or begins a tag. */
function cell(text: string): string {
  return prose(text).replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();
}

/** Text of the code as Markdown: what looks like a tag or an expression of Vue is shown as it is. */
export function prose(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : escaped(part)))
    .join('');
}

const escaped = (text: string) =>
  text.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;').replaceAll('*', '\\*');

/** A table of Markdown; a row has a cell for each heading. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  return [headings, headings.map(() => '---'), ...rows.map((row) => row.map(cell))]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

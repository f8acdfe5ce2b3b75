/** Milliseconds after which a browser has taken the file. */
const TAKEN = 60_000;

/**
 * Saves a file with the browser.
 *
 * @example saveFile('result.json', 'application/json', [text])
 */
export function saveFile(name: string, type: string, content: string[]): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(content, { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), TAKEN);
}

import type { PlannedFile, RenderedFile } from './files.ts';

/**
 * Renders the text of every planned file. Everything is rendered before the first byte is written.
 */
export async function renderFiles(files: readonly PlannedFile[]): Promise<RenderedFile[]> {
  return Promise.all(
    files.map(async ({ path, owner, render }) => ({ path, owner, text: await render() })),
  );
}

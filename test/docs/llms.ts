import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../source-files.ts';

/** A page of the documentation. */
export interface DocsPage {
  /** Relative to the repository, and to the package of the generator. */
  readonly path: string;
  readonly title: string;
  /** The first sentence. */
  readonly about: string;
}

/** Every page, sorted by path. */
export function docsPages(): DocsPage[] {
  return globSync(
    [
      ...['site/pages/*/*.md', '{schema,generator}/docs/*.md'],
      ...['runtime/*/docs/*.md', 'runtime/core/*/docs/*.md'],
    ],
    {
      cwd: root,
    },
  )
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .map((path) => pageOf(path, readFileSync(join(root, path), 'utf8')));
}

function pageOf(path: string, text: string): DocsPage {
  const [heading = '', ...paragraphs] = text.replaceAll(/^```[^]*?^```$/gm, '').split(/\n\n+/);
  const first = paragraphs.find((each) => /^\S/.test(each) && !/^[|#-]/.test(each)) ?? '';
  const plain = first
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const sentence = /^.+?[^A-Z]\.(?= |$)/.exec(plain)?.[0] ?? plain.replace(/:$/, '.');
  return { path, title: heading.replace(/^# /, '').trim(), about: sentence };
}

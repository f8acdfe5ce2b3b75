import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writtenPages } from '../../site/pages.ts';
import { root } from '../source-files.ts';
import { type DocsPage, docsPages } from './llms.ts';

/** Headings of `llms.txt`, and which pages stand below each. */
const SECTIONS: readonly (readonly [heading: string, folders: RegExp])[] = [
  ['The first hour', /^site\/pages\/start\//],
  ['How to, and what the project is', /^site\/pages\/(how-to|about)\//],
  ['The two files', /^schema\//],
  ['Commands', /^generator\//],
  ['The server', /^runtime\/core\//],
  ['Signing in', /^runtime\/auth\//],
  ['Hosting, models and the console', /^runtime\/(hosting|models|console)\//],
];

/** As on the site, where a page comes after those that it needs. */
function inReadingOrder(pages: readonly DocsPage[]): DocsPage[] {
  const order = writtenPages().map(({ source }) => source);
  return pages.toSorted((a, b) => order.indexOf(a.path) - order.indexOf(b.path));
}

const line = ({ path, title, about }: DocsPage) => `- [${title}](${path}): ${about}`;

// Acceptance 10 of client.md: each link of `llms.txt` is a file of the package.
it('llms.txt has a link for each page of the documentation; npm run schema writes it', async () => {
  const pages = inReadingOrder(docsPages());
  const sections = SECTIONS.map(([heading, folders]) => {
    const own = pages.filter(({ path }) => folders.test(path));
    return `## ${heading}\n\n${own.map(line).join('\n')}\n`;
  });
  const text = `# Twofold

> Two files in, a server out: \`schema.graphql\` describes the data, \`manifest.yaml\` how users sign in and what is hosted. A generator emits a typed Koa project with GraphQL, REST, sign-in and migrations.

Paths are relative to this file. In a project, AGENTS.md says how to work in it.

${sections.join('\n')}`;
  const linked = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => path!);
  expect(linked.toSorted()).toEqual(pages.map(({ path }) => path).toSorted());
  expect(linked.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  await expect(text).toMatchFileSnapshot(join(root, 'llms.txt'));
});

it('llms.txt is in the package of the generator with its pages', () => {
  const pack = readFileSync(join(root, 'generator/packages/pack.ts'), 'utf8');
  expect(pack).toContain("'llms.txt'");
});

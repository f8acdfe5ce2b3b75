import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { linkPage } from '../../site/links.ts';
import { databaseCodes } from '../../site/reference/database-codes.ts';
import { errorCodes } from '../../site/reference/error-codes.ts';
import { hostingCodes } from '../../site/reference/hosting-codes.ts';
import { sitePages } from '../../site/stage.ts';
import { blocksOf } from '../docs/page.ts';
import { docsPages } from '../docs/llms.ts';
import { root, sourceFiles } from '../source-files.ts';

const pages = sitePages();
const addresses = new Map(pages.map(({ source, path }) => [source, path]));

it('has every page of the documentation, each at an address of its own', () => {
  const sources = pages.map(({ source }) => source);
  expect(docsPages().filter(({ path }) => !sources.includes(path))).toEqual([]);
  expect(new Set(pages.map(({ path }) => path)).size).toBe(pages.length);
});

it('has no link that leads nowhere, and says so of one', () => {
  expect(pages.flatMap(({ source, text }) => linkPage(source, text, addresses).dead)).toEqual([]);
  const { dead } = linkPage('schema/docs/x.md', 'see [it](../../nowhere.md)', addresses);
  expect(dead).toEqual([{ source: 'schema/docs/x.md', target: '../../nowhere.md' }]);
});

it('leaves code as it is, and leads to sources for files that are no pages', () => {
  const text = '```md\n[it](directives.md)\n```\n[it](directives.md#auth) [code](../index.ts)\n';
  expect(linkPage('schema/docs/x.md', text, addresses).text).toBe(
    '```md\n[it](directives.md)\n```\n[it](/files/directives#auth) [code](https://github.com/twofold/twofold/blob/main/schema/index.ts)\n',
  );
});

it('names a page by its title where a text names its file', () => {
  const titles = new Map([['/files/directives', 'The directives']]);
  const text = 'see [directives.md](directives.md#auth) and [them](directives.md)';
  expect(linkPage('schema/docs/x.md', text, addresses, titles).text).toBe(
    'see [The directives](/files/directives#auth) and [them](/files/directives)',
  );
});

it('lists every code that a server answers with, with its status', () => {
  const found = sourceFiles('runtime').flatMap((path) =>
    [
      ...readFileSync(join(root, path), 'utf8').matchAll(/AppError\(\s*(\d{3}),\s*'([A-Z_]+)'/g),
    ].map(([, status, code]) => ({ code: code!, status: Number(status) })),
  );
  const listed = [...errorCodes, ...databaseCodes, ...hostingCodes];
  const codes = new Set(listed.map(({ code }) => code));
  expect(codes.size).toBe(listed.length);
  expect(found.length).toBeGreaterThan(80);
  expect(found.filter(({ code }) => !codes.has(code))).toEqual([]);
  const wrong = listed.filter(
    ({ code, status }) =>
      found.some((each) => each.code === code) &&
      !found.some((each) => each.code === code && each.status === status),
  );
  expect(wrong.map(({ code, status }) => `${code} ${status}`)).toEqual([]);
});

it('shows no block of code in its own pages that no test runs', () => {
  const roles = ['schema', 'manifest', 'subscribe', 'event', 'variables'];
  const unchecked = pages
    .filter(({ source }) => /^site\/pages\/(how-to|about)\//.test(source))
    .flatMap(({ source, text }) =>
      blocksOf(text)
        .filter(({ language, role, options }) =>
          ['graphql', 'json', 'sh', 'sql'].includes(language)
            ? false
            : !roles.includes(role) && options['file'] === undefined,
        )
        .map(({ line }) => `${source}:${line}`),
    );
  expect(unchecked).toEqual([]);
});

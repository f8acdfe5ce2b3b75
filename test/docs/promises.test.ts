import { describe, expect, it } from 'vitest';
import { directivesSdl } from '@twofold/schema';
import { testTitles } from '../test-titles.ts';
import { DIRECTIVES } from './promises/directives.ts';
import { INFERENCE } from './promises/inference.ts';
import type { Promised } from './promises/promised.ts';
import { REST } from './promises/rest.ts';
import { readPage } from './page.ts';

/**
 * What is promised has an example on a page, and tests that run it on both databases. The pages' examples are run on both
 * as well, by `examples.test.ts`.
 */
describe.each([
  ['the inference table', INFERENCE],
  ['the directives', DIRECTIVES],
  ['REST', REST],
] as const)('%s', (_, promises) => {
  it.each(promises.map((promised) => [promised.row, promised] as const))(
    'has an example of: %s',
    (_row, { page, shows }) => {
      const [path = '', anchor = ''] = page.split('#');
      const blocks = sectionOf(path, anchor);
      const shown = blocks?.filter((text) => text.includes(shows)) ?? [];
      expect({ page, heading: blocks !== undefined, shows, examples: shown.length > 0 }).toEqual({
        page,
        heading: true,
        shows,
        examples: true,
      });
    },
  );

  it.each(promises.map((promised) => [promised.row, promised] as const))(
    'has tests on both databases of: %s',
    (_row, { tests }) => {
      expect(tests.length).toBeGreaterThan(0);
      expect(tests.map((test) => [test, whereIs(test)])).toEqual(
        tests.map((test) => [test, 'on both databases']),
      );
    },
  );
});

describe('the directives', () => {
  it('are all promised', () => {
    const declared = [...directivesSdl.matchAll(/^directive @(\w+)/gm)].map(
      ([, name]) => `@${name}`,
    );
    expect(DIRECTIVES.map(({ row }) => row).toSorted()).toEqual(declared.toSorted());
  });
});

/** The examples below a heading, up to the next of its level or above (below the title: up to any); undefined when the page has no such heading. */
function sectionOf(path: string, anchor: string): string[] | undefined {
  const { text, blocks } = readPage(path);
  const lines = text.split('\n');
  const headings = lines.flatMap((line, index) => {
    const [, marks, title] = /^(#+) (.*)$/.exec(line) ?? [];
    return marks === undefined || title === undefined
      ? []
      : [{ level: marks.length, anchor: anchorOf(title), line: index + 1 }];
  });
  const at = headings.findIndex((heading) => heading.anchor === anchor);
  const from = headings[at];
  if (!from) return undefined;
  const to =
    headings.slice(at + 1).find(({ level }) => level <= from.level || from.level === 1)?.line ??
    Infinity;
  return blocks.filter(({ line }) => line > from.line && line < to).map((block) => block.text);
}

/** As Markdown's readers make it of a title. */
const anchorOf = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .trim()
    .replace(/\s+/g, '-');

const BOTH = /^describe\.each\(databases\)|^for \(const \{[^}]*\} of databases\)/;

/** `test/rest/reads.test.ts: answers 404` is the title of a test below a suite that runs once for each database. */
function whereIs(test: Promised['tests'][number]): string {
  const [, file = '', title = ''] = /^(\S+): (.*)$/.exec(test) ?? [];
  const found = testTitles(file).find((each) => each.title === title);
  if (!found) return 'nowhere';
  return BOTH.test(found.suite.text) ? 'on both databases' : `below ${found.suite.title}`;
}

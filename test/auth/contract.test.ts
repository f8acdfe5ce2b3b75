import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type TestTitle, testTitles } from '../test-titles.ts';
import { ACCEPTANCE, CONTRACT, ERRORS, type Line } from './contract.ts';
import { CONTRACT_2 } from './contract-2.ts';

const folder = new URL('./', import.meta.url);
const files = readdirSync(folder).filter(
  (file) => file.endsWith('.test.ts') && !['contract.test.ts', 'asvs.test.ts'].includes(file),
);

/** A test as its file says it is. */
interface Found {
  readonly title: string;
  readonly suite: string;
  /** On which databases it runs; `none`: it needs none. */
  readonly on: 'both' | 'PostgreSQL' | 'SQLite' | 'none';
}

const found = files.flatMap((file) => testTitles(`test/auth/${file}`).map(runsOn));

/** A test, the title of its suite, and on which databases that runs. */
function runsOn({ title, suite }: TestTitle): Found {
  const on = suite.text.startsWith('describeEachDatabase')
    ? 'both'
    : suite.text.startsWith("describeWith('postgres'")
      ? 'PostgreSQL'
      : /startServer\(|startProcess|startWith/.test(suite.text)
        ? 'SQLite'
        : 'none';
  return { title, suite: suite.title, on };
}

/** Whether a suite names a section: `§2.3 login`, or a range: `§2.3 to §2.8 races`. */
function names(suite: string, section: string): boolean {
  const [first, last] = [...suite.matchAll(/§(\d)\.(\d+)/g)].map(([, , minor]) => Number(minor));
  const wanted = Number(section.split('.')[1]);
  return (
    first !== undefined &&
    (suite.includes(' to §')
      ? first <= wanted && wanted <= last!
      : [...suite.matchAll(/§2\.(\d+)/g)].some(([, minor]) => Number(minor) === wanted))
  );
}

/** What is wrong with a line: a title that no test has, a suite without a section, a database that is left out. */
function problemsOf([what, ...titles]: Line): string[] {
  if (titles.length === 0) return [`${what}: no test`];
  return titles.flatMap((title) => {
    const elsewhere = /^([\w./-]+\.ts): (.*)$/s.exec(title);
    if (elsewhere)
      return readFileSync(new URL(`../${elsewhere[1]}`, folder), 'utf8').includes(elsewhere[2]!)
        ? []
        : [`${what}: "${title}" is not there`];
    const tests = found.filter((test) => test.title.includes(title));
    if (tests.length === 0) return [`${what}: no test has "${title}" in its title`];
    const proof = tests.filter(
      ({ suite, on }) =>
        /§|doctor|acceptance/.test(suite) && (on !== 'SQLite' || /in a file/.test(suite)),
    );
    return proof.length > 0
      ? []
      : [`${what}: "${title}" does not run on both databases, or its suite names no section`];
  });
}

describe('the contract of auth', () => {
  it('finds tests, and tells where they run', () => {
    expect(found.length).toBeGreaterThan(200);
    expect(found.filter(({ on }) => on === 'both').length).toBeGreaterThan(100);
    expect(problemsOf(['made up', 'a title that no test has'])).toEqual([
      'made up: no test has "a title that no test has" in its title',
    ]);
    expect(problemsOf(['nothing'])).toEqual(['nothing: no test']);
  });

  for (const [section, lines] of Object.entries(CONTRACT)) {
    it(`§${section}: each of ${lines.length} lines is shown on SQLite and on PostgreSQL`, () => {
      expect(lines.flatMap(problemsOf)).toEqual([]);
      expect(
        found.some(({ suite }) => names(suite, section)),
        `a suite that names §${section}`,
      ).toBe(true);
    });
  }

  it('has lines for every section from 2.0 to 2.15', () => {
    expect(Object.keys(CONTRACT)).toEqual(Array.from({ length: 16 }, (_, index) => `2.${index}`));
  });

  for (const [section, lines] of Object.entries(CONTRACT_2))
    it(`part two, ${section}: each of ${lines.length} lines is shown`, () =>
      expect(lines.flatMap(problemsOf)).toEqual([]));

  it('the acceptance list of section 6 of the anchors is covered', () => {
    expect(ACCEPTANCE.flatMap(problemsOf)).toEqual([]);
  });

  it('every error text of the table is demanded by a test', () => {
    const sources = files.map((file) => readFileSync(new URL(file, folder), 'utf8')).join('\n');
    expect(ERRORS.filter((text) => !sources.includes(text))).toEqual([]);
  });

  it('every suite with a server runs on both databases, or says why not', () => {
    const suites = found.filter(({ on }) => on === 'SQLite').map(({ suite }) => suite);
    // Browsers and settings of the manifest: the database is no part of what they show.
    expect([...new Set(suites)].sort()).toEqual(
      [
        'auth-2 acceptance 7: passkeys in Chromium under the CSP of the pages',
        'auth-2 §6 passkeys in the manifest',
        "§6 passkeys on the pages, under the pages' own policy",
        '§11 mails of a project',
        '§12 pages by keyboard, in four languages, and back to an app',
        '§12 pages of a project',
      ].sort(),
    );
  });
});

import { compareVersions } from '@twofold/schema';
import type { Codemod, ProjectText } from './codemod.ts';
import { lineAt, withEdits } from './text-edits.ts';
import type { Range } from './versions.ts';
import { migrationSteps } from './migration-steps/codemod.ts';

/** What a codemod did to a file, or left to a person, with its line in the new text. */
export interface CodemodNote {
  readonly codemod: string;
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

export interface CodemodRun {
  /** The new texts of the changed files, by path. */
  readonly texts: ReadonlyMap<string, string>;
  readonly done: readonly CodemodNote[];
  readonly byHand: readonly CodemodNote[];
}

/**
 * Runs the codemods of every version after `from` and up to `to`, in the order of the versions.
 * Each one reads what the ones before it left.
 */
export async function runCodemods(
  files: readonly ProjectText[],
  { from, to }: Range,
  table: readonly Codemod[] = codemods,
): Promise<CodemodRun> {
  const texts = new Map<string, string>();
  const done: CodemodNote[] = [];
  const byHand: CodemodNote[] = [];
  const due = table
    .filter(
      ({ version }) => compareVersions(version, from) > 0 && compareVersions(version, to) <= 0,
    )
    .toSorted((a, b) => compareVersions(a.version, b.version));
  for (const codemod of due)
    for (const { path, text: before } of files.filter((file) => codemod.reads(file.path))) {
      const text = texts.get(path) ?? before;
      const { edits, byHand: left = [] } = await codemod.edit({ path, text });
      const note = (what: string, at: number): CodemodNote => ({
        codemod: codemod.name,
        file: path,
        line: lineAt(text, at),
        what,
      });
      byHand.push(...left.map(({ at, what }) => note(what, at)));
      done.push(...edits.map(({ at }) => note(codemod.about, at)));
      if (edits.length > 0) texts.set(path, withEdits(text, edits));
    }
  return { texts, done, byHand };
}

/** Every codemod, in the order of the versions. The first release needs none. */
const codemods: readonly Codemod[] = [migrationSteps];

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from '../failure.ts';
import type { FileChange, PackageSource } from '../files.ts';
import { isVendored } from '../packages/vendored.ts';
import type { CodemodNote } from './run-codemods.ts';
import { type Packs, readPackText } from './packs.ts';
import { lineAt, type TextEdit, withEdits } from './text-edits.ts';

/** Where the packages of the upgrade come from. */
export interface Target {
  readonly version: string;
  /** Null: from the registry. */
  readonly packs: Packs | null;
}

export const sourceOf = ({ packs }: Target): PackageSource =>
  packs === null ? 'registry' : 'vendor';

const OURS = /"@twofold\/(\w+)"\s*:\s*"([^"\n]*)"/g;
/** What `generate` writes, and a version that a user pinned. */
const KNOWN = /^(?:[~^]?\d+\.\d+\.\d+(?:-[\w.-]+)?|file:vendor\/twofold-\w+-[\w.-]+\.tgz)$/;

/**
 * The text of `package.json` with our packages at the target. A package that a user takes from
 * elsewhere, as a link or from git, stays and is reported.
 */
export function withPackages(
  text: string,
  target: Target,
): { readonly text: string; readonly byHand: readonly CodemodNote[] } {
  const edits: TextEdit[] = [];
  const byHand: CodemodNote[] = [];
  for (const { 0: whole, 1: short = '', 2: spec = '', index } of text.matchAll(OURS)) {
    const end = index + whole.length - 1;
    const wanted = specOf(short, target);
    if (KNOWN.test(spec)) edits.push({ at: end - spec.length, end, text: wanted });
    else if (spec !== wanted)
      byHand.push({
        codemod: 'packages',
        file: 'package.json',
        line: lineAt(text, index),
        what: `@twofold/${short} is ${spec}: it should become ${wanted}`,
      });
  }
  return { text: withEdits(text, edits), byHand };
}

function specOf(short: string, { version, packs }: Target): string {
  if (packs === null) return `^${version}`;
  const pack = packs.names.find((each) => each.short === short);
  if (pack) return `file:vendor/${pack.file}`;
  throw new CommandError('PACKS_MISSING', {
    message: `${packs.folder} has no pack of @twofold/${short} ${version}, which package.json names`,
    fix: `put twofold-${short}-${version}.tgz there`,
  });
}

/** The changes in `vendor/`: the packs of the target come, those of other versions go. */
export function vendorChanges(root: string, { packs }: Target): FileChange[] {
  const vendor = join(root, 'vendor');
  const present = existsSync(vendor) ? readdirSync(vendor).filter(isVendored) : [];
  const wanted = packs?.names.map(({ file }) => file) ?? [];
  return [...new Set([...present, ...wanted])].sort().map((file): FileChange => {
    const before = present.includes(file) ? readPackText(vendor, file) : null;
    const after = packs && wanted.includes(file) ? readPackText(packs.folder, file) : null;
    const kind =
      before === after ? 'same' : before === null ? 'create' : after === null ? 'remove' : 'update';
    return { path: `vendor/${file}`, owner: 'generated', kind, before, after, binary: true };
  });
}

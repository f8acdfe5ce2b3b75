import type { Foresight } from '@twofold/database';
import type { Diagnostic, Project, SourceText } from '@twofold/schema';
import type { Sources } from '../files.ts';
import { hashText, type Lock } from '../write/lockfile.ts';
import { withoutDraft } from './draft.ts';
import { createLocate } from './locate.ts';
import type { PlannedMigration } from './plan.ts';
import type { Transition } from './transition.ts';

/** Asks the project's database. Null when it cannot be asked. */
export type Foresee = (question: ForeseeQuestion) => Promise<Foresight | null>;

export interface ForeseeQuestion {
  /** Migrations that are on disk. */
  readonly saved: readonly SourceText[];
  /** Texts that are not written yet. */
  readonly drafts: readonly { readonly path: string; readonly text: string }[];
  /** Paths of migrations that will be removed. */
  readonly without: readonly string[];
  /** The steps from the draft that is applied to its new text. */
  readonly transition: Transition | null;
}

interface Foreseeing {
  readonly project: Project;
  readonly sources: Sources;
  readonly lock: Lock;
  /** Plans the next migration; `again` is the path of a saved one to write again. */
  readonly plan: (again?: string) => PlannedMigration;
  readonly foresee: Foresee;
}

/**
 * Plans the next migration with the database: rows that would prevent it are findings, and then
 * nothing is written. If the newest saved migration is refused, no database of this project has
 * applied it and its text is as a run wrote it, then it is written again with the change, so that a
 * slip in it does not block all later ones.
 */
export async function planForeseen(foreseeing: Foreseeing): Promise<PlannedMigration> {
  const { plan, foresee, sources } = foreseeing;
  const planned = plan();
  if (hasErrors(planned)) return planned;
  const answer = await foresee(questionOf(planned, sources));
  const again = answer?.refusal ? newestUnapplied(foreseeing, answer) : undefined;
  if (again === undefined) return withRefusal(planned, answer, foreseeing);
  const other = plan(again);
  if (hasErrors(other) || other.files.length + other.removed.length === 0)
    return withRefusal(planned, answer, foreseeing);
  return withRefusal(other, await foresee(questionOf(other, sources)), foreseeing);
}

const hasErrors = ({ findings }: PlannedMigration) =>
  findings.some(({ severity }) => severity === 'error');

const questionOf = (
  { files, removed, transition }: PlannedMigration,
  { migrations }: Sources,
): ForeseeQuestion => ({ saved: migrations, drafts: files, without: removed, transition });

/** The newest saved migration, if this database has not applied it and it is as a run wrote it. */
function newestUnapplied({ sources, lock }: Foreseeing, { state }: Foresight): string | undefined {
  const newest = withoutDraft(sources.migrations).saved.at(-1);
  if (!newest || !state.pending.includes(nameOf(newest.file))) return undefined;
  const written = lock.get(newest.file)?.hashes ?? [];
  return written.includes(hashText(newest.text)) ? newest.file : undefined;
}

const nameOf = (path: string) => path.replace(/^.*\//, '').replace(/\.\w+$/, '');

function withRefusal(
  planned: PlannedMigration,
  foresight: Foresight | null,
  { project, sources }: Foreseeing,
): PlannedMigration {
  const refusal = foresight?.refusal;
  if (!refusal) return { ...planned, findings: planned.findings.filter(isStillValid) };
  const locate = createLocate(project, sources.schema);
  const found = refusal.found.map(({ code, object, what, keys, atRisk, fix }): Diagnostic => ({
    code,
    severity: 'error',
    summary: what,
    why: `${atRisk === 1 ? 'key' : 'keys'} ${keys.join(', ')}${atRisk > keys.length ? ', …' : ''}; the database is as it was`,
    fix,
    at: locate(object),
  }));
  const findings = found.length > 0 ? found : [refusedFinding(refusal, sources)];
  return { ...planned, findings: [...planned.findings.filter(isStillValid), ...findings] };
}

/** Warnings about rows that may exist are obsolete once the database was asked. */
function isStillValid({ code }: Diagnostic): boolean {
  return code !== 'MIGRATION_NEEDS_VALUE' && code !== 'MIGRATION_CHECKS_ROWS';
}

function refusedFinding(
  { code, message, migration, line }: NonNullable<Foresight['refusal']>,
  { migrations }: Sources,
): Diagnostic {
  const [summary = '', ...rest] = message.split('\n');
  const fix = rest.find((line) => /^\s*fix /.test(line))?.replace(/^\s*fix\s+/, '');
  const why = rest.filter((line) => !/^\s*fix /.test(line)).join(' ');
  const file = migrations.find((each) => nameOf(each.file) === migration)?.file ?? 'migrations/';
  return {
    code,
    severity: 'error',
    summary,
    ...(why !== '' && { why }),
    ...(fix !== undefined && { fix }),
    at: { file, line: line ?? 1, column: 1, length: 1 },
  };
}

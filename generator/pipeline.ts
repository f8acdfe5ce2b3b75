import { join, posix } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Project } from '@twofold/schema';
import type { AnsweredFields } from './answered-fields.ts';
import type { CodegenPlan } from './codegen/plan-codegen.ts';
import type { AddedByProcess } from './documents/list-history.ts';
import type { DocumentsPlan } from './documents/plan-documents.ts';
import { countFields } from './count-fields.ts';
import { TOOLS_FILE } from '../templates/owned/tools.ts';
import { CommandError, EXIT } from './failure.ts';
import {
  TYPES_FILE,
  renderFiles,
  type FileChange,
  type PlannedFile,
  type RenderedFile,
  type Sources,
} from './files.ts';
import { planForeseen, type Foresee } from './migrations/foreseen.ts';
import { planMigration, type PlannedMigration } from './migrations/plan.ts';
import { withoutDraft } from './migrations/draft.ts';
import { TRANSITIONS, type Transition } from './migrations/transition.ts';
import { planFiles } from './plan.ts';
import { readSources } from './read.ts';
import {
  hasErrors,
  readProjectFrom,
  type InputReading,
  type ReadingOptions,
} from './read-project.ts';
import { findInUserFiles, withoutOrphans } from './user-findings.ts';
import { packageVersion } from './version.ts';
import { writtenMembers } from './written-members.ts';
import type { Disk } from './write/disk.ts';
import { LOCKFILE, parseLock } from './write/lockfile.ts';
import { applyChanges, planChanges } from './write/write.ts';

/** Options of a run. */
export interface RunOptions extends ReadingOptions {
  readonly force?: boolean;
  /** Tables and columns that may be dropped, by coordinate. */
  readonly allowDrop?: readonly string[];
  /** Columns whose values may be shortened or lost in the next migration, by coordinate. */
  readonly allowLoss?: readonly string[];
  /** Whether the next migration is a draft: under `dev` and `generate --watch`. */
  readonly draft?: boolean;
  /** The statements of a database that another program made (`generator import db --managed`). */
  readonly baseline?: readonly string[];
  /** Asks the database about migrations before they are written: only `dev` sets it. */
  readonly foresee?: Foresee;
  /**
   * When the plugins of `codegen:` run. Absent: in this run, if they have something to do. A
   * function: after this run, and the function is called when there is something to write. `false`:
   * not at all.
   */
  readonly codegen?: false | (() => void);
  /** `false` leaves all files of `client:` as they are, on a machine without the front end. */
  readonly client?: boolean;
  /** The trusted documents that this process added: for a process that runs many times. */
  readonly added?: AddedByProcess;
}

/** A run up to the last step: everything is rendered and compared, and nothing is written. */
export interface RunPlan extends InputReading {
  readonly changes: readonly FileChange[];
  /**
   * How many fields the server answers, and which the user writes; null when a finding is an error.
   */
  readonly fields: AnsweredFields | null;
  /** Tables and columns of the schema that the migrations on disk do not make. */
  readonly missing: readonly string[];
  /** The changes of the list of trusted documents; absent without `client:`. */
  readonly documents?: DocumentsPlan;
  /** The text of the cache of `codegen:`; absent when nothing was made. */
  readonly codegenCache?: string;
  /** The steps from the draft on disk to its new text. */
  readonly transition?: Transition | null;
}

/** Runs every stage but the writing. */
export async function planRun(root: string, options: RunOptions, disk: Disk): Promise<RunPlan> {
  return planSources(await readSources(root), options, disk);
}

/** Plans a run from sources that were read before. */
export async function planSources(
  sources: Sources,
  options: RunOptions,
  disk: Disk,
): Promise<RunPlan> {
  const reading = await readProjectFrom(sources, options);
  const { project } = reading;
  if (!project) return { ...reading, changes: [], fields: null, missing: [] };
  const migration = await planNext(project, sources, { options, disk });
  const documents = await documentsOf(project, sources, { options, disk });
  const findings = [
    ...reading.findings,
    ...(await findInUserFiles(project, sources)),
    ...migration.findings,
    ...(documents?.findings ?? []),
  ];
  const { missing, removed } = migration;
  const refused = { ...reading, project: null, changes: [], fields: null, missing };
  if (hasErrors(findings)) return { ...refused, findings };
  const planned = planFiles(project, {
    sources: withoutOrphans(sources, project),
    migration,
    version: packageVersion(),
    checks: await checksOf(project, sources),
    printed: () => codegen?.types ?? undefined,
  });
  const own = [...planned, ...(documents?.files ?? [])];
  const codegen = await codegenOf(project, sources, { options, disk, own });
  const all = [...findings, ...(codegen?.findings ?? [])];
  if (hasErrors(all)) return { ...refused, findings: all };
  const isOther = options.client === false ? isOfClient(project) : () => false;
  return {
    ...reading,
    findings: all,
    fields: countFields(project, findings, writtenMembers(sources)),
    missing,
    transition: migration.transition,
    ...(documents && { documents }),
    ...(codegen?.cache && { codegenCache: codegen.cache }),
    changes: await planChanges(
      sources.root,
      {
        files: await renderWithCodegen(own, codegen),
        force: options.force ?? false,
        removed,
        isKept: (path) => isOther(path) || (codegen?.isKept(path) ?? false),
      },
      disk,
    ),
  };
}

/** How `tsc` checks the front ends. Loaded only for a project with one. */
async function checksOf({ clients }: Project, { root }: Sources): Promise<string[]> {
  if (!clients) return [];
  const { typeCheckOf } = await import('./documents/import-ending.ts');
  return clients.flatMap(({ out }) => typeCheckOf(root, out) ?? []);
}

/** Without the types, if plugins print them after this run. */
function renderWithCodegen(
  own: readonly PlannedFile[],
  codegen: CodegenPlan | undefined,
): Promise<RenderedFile[]> {
  const isLater = (path: string) => codegen?.types === null && path === TYPES_FILE;
  const files = [...own, ...(codegen?.files ?? [])];
  return renderFiles(files.filter(({ path }) => !isLater(path)));
}

/** Loaded only for a project with `client:`. */
async function documentsOf(
  project: Project,
  sources: Sources,
  { options, disk }: { readonly options: RunOptions; readonly disk: Disk },
): Promise<DocumentsPlan | undefined> {
  if (!project.clients || options.client === false) return undefined;
  const { planDocuments } = await import('./documents/plan-documents.ts');
  return planDocuments(project, sources, { disk, added: options.added ?? new Set() });
}

/** Loaded only for a project with `codegen:`. */
async function codegenOf(
  project: Project,
  sources: Sources,
  { options, disk, own }: PlannedRun,
): Promise<CodegenPlan | undefined> {
  if (!/^codegen\b/m.test(sources.manifest?.text ?? '')) return undefined;
  const { planCodegen } = await import('./codegen/plan-codegen.ts');
  const ours = new Set(own.map(({ path }) => path));
  const plan = await planCodegen(project, sources, {
    disk,
    ours,
    client: options.client !== false,
    ...(options.codegen !== undefined && { mode: options.codegen }),
  });
  // Under `dev` a plugin that fails does not hold up the server.
  const findings = options.draft
    ? plan?.findings.map((finding) => ({ ...finding, severity: 'warning' as const }))
    : plan?.findings;
  return plan && { ...plan, findings: findings ?? [] };
}

interface PlannedRun {
  readonly options: RunOptions;
  readonly disk: Disk;
  readonly own: readonly PlannedFile[];
}

/**
 * Whether a path of the lockfile belongs to a front end: files outside of the project's folder, and
 * `out`.
 */
function isOfClient({ clients = [] }: Project): (path: string) => boolean {
  const outs = clients.map(({ out }) => posix.join(out, '/'));
  return (path) =>
    path.startsWith('../') || path === TOOLS_FILE || outs.some((out) => path.startsWith(out));
}

async function planNext(
  project: Project,
  sources: Sources,
  { options, disk }: { readonly options: RunOptions; readonly disk: Disk },
): Promise<PlannedMigration> {
  const { allowDrop = [], allowLoss = [], draft = false, foresee } = options;
  const baseline = options.baseline ?? (await baselineOfAdopted(project, sources, disk));
  const plan = (more: { readonly again?: string; readonly lastModel?: string | null }) =>
    planMigration(project, sources, {
      allowDrop,
      allowLoss,
      draft,
      ...(baseline && { baseline }),
      ...more,
    });
  const first = plan({});
  const isAsked = first.findings.some(({ code }) => code === 'RENAME_AMBIGUOUS');
  // The file is large, and only a finding about a rename needs it.
  const lastModel = isAsked ? await disk.read(join(sources.root, LAST_MODEL)) : null;
  const next = isAsked ? plan({ lastModel }) : first;
  if (!foresee) return next;
  const lock = parseLock(await disk.read(join(sources.root, LOCKFILE)));
  return planForeseen({
    project,
    sources,
    lock,
    foresee,
    plan: (again) => (again === undefined ? next : plan({ lastModel, again })),
  });
}

/**
 * The statements of the database when the manifest had `managed: false` until now, because its
 * tables exist already.
 */
async function baselineOfAdopted(
  project: Project,
  { root, migrations }: Sources,
  disk: Disk,
): Promise<readonly string[] | undefined> {
  if (project.unmanaged || migrations.length > 0) return undefined;
  const last = await disk.read(join(root, LAST_MODEL));
  if (!last?.includes('unmanaged: true')) return undefined;
  const { baselineOfProject } = await import('./import/database/read-database.ts');
  return baselineOfProject(root);
}

/** The model of the previous run. */
const LAST_MODEL = 'src/generated/model.ts';

/**
 * Runs all seven stages. If a generated file was `edited`, nothing was written.
 *
 * @throws CommandError 75 when the inputs keep changing.
 */
export async function run(root: string, options: RunOptions, disk: Disk): Promise<RunPlan> {
  return applyChanges(
    root,
    async () => {
      const plan = await planSettled(root, options, disk);
      await keepTransition(root, plan, disk);
      await keepAdded(root, plan, { options, disk });
      await keepCodegen(root, plan, disk);
      return plan;
    },
    disk,
  );
}

/**
 * Writes the steps between two texts of a draft. They are written before the draft, so that a
 * database can follow it without losing values. Steps of an earlier draft are removed.
 */
async function keepTransition(root: string, plan: RunPlan, disk: Disk): Promise<void> {
  const { transition, changes, sources } = plan;
  if (!transition) {
    const begins = changes.some(({ path, kind }) => kind === 'create' && /_draft\.ts$/.test(path));
    if (begins && !withoutDraft(sources.migrations).draft)
      await disk.removeFolder(join(root, TRANSITIONS));
    return;
  }
  await disk.write(join(root, transition.path), transition.text);
}

/**
 * Writes which inputs the outputs of plugins were made from, so that the next run need not load a
 * plugin.
 */
async function keepCodegen(root: string, { codegenCache }: RunPlan, disk: Disk): Promise<void> {
  if (codegenCache === undefined) return;
  const { CODEGEN_CACHE } = await import('./codegen/cache.ts');
  const path = join(root, CODEGEN_CACHE);
  if ((await disk.read(path)) !== codegenCache) await disk.write(path, codegenCache);
}

/** Notes the documents that this run adds to the list, before it writes the list. */
async function keepAdded(
  root: string,
  { documents, changes }: RunPlan,
  { options, disk }: { readonly options: RunOptions; readonly disk: Disk },
): Promise<void> {
  if (!documents?.counts || changes.some(({ kind }) => kind === 'edited')) return;
  const { noteAdded } = await import('./documents/list-history.ts');
  await noteAdded(root, documents.addedHere, { disk, added: options.added ?? new Set() });
}

/** The number of times that a run starts again because an input is saved while it works. */
const ATTEMPTS = 20;

/**
 * Milliseconds that an editor needs between the steps of a save: emptying and writing a file, or
 * replacing it by another one.
 */
const EDITOR_SAVE_TIME = 2;

/**
 * A run may read a file while an editor is writing it: findings and output come only from inputs
 * that did not change meanwhile.
 */
async function planSettled(root: string, options: RunOptions, disk: Disk): Promise<RunPlan> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const sources = await readSources(root);
    const [outcome] = await Promise.allSettled([planSources(sources, options, disk)]);
    if (outcome.status === 'rejected' || hasErrors(outcome.value.findings))
      await wait(EDITOR_SAVE_TIME);
    if (!isDeepStrictEqual(await readSources(root), sources)) continue;
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }
  throw new CommandError('CHANGED_MEANWHILE', {
    message:
      'the inputs were changed again and again while this run was at work; nothing was written',
    fix: 'run again',
    exit: EXIT.again,
  });
}

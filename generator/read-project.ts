import type { Diagnostic, Project, ProjectInput } from '@twofold/schema';
import { stillToWrite } from './answered-fields.ts';
import { CommandError } from './failure.ts';
import type { Sources } from './files.ts';
import { readSources } from './read.ts';
import { completesUser, readUserHooks } from './user-hooks.ts';
import { readUserScalars } from './user-scalars.ts';
import { writtenMembers } from './written-members.ts';

export interface ReadingOptions {
  /**
   * Results that each run keeps for the next one (`createKnown`): for a process that runs many
   * times.
   */
  readonly known?: NonNullable<ProjectInput['known']>;
}

/** The meaning of the two inputs. */
export interface InputReading {
  readonly sources: Sources;
  /** Null when a finding is an error. */
  readonly project: Project | null;
  readonly findings: readonly Diagnostic[];
}

/**
 * Runs the stages read, parse, check and build.
 *
 * @throws CommandError when there is no schema at all.
 */
export async function readProjectOf(
  root: string,
  given: ReadingOptions = {},
): Promise<InputReading> {
  return readProjectFrom(await readSources(root), given);
}

/** The same for sources that were read before. */
export async function readProjectFrom(
  sources: Sources,
  { known }: ReadingOptions,
): Promise<InputReading> {
  if (sources.schema.length === 0 && sources.problems.length === 0) {
    throw new CommandError('NO_SCHEMA', {
      message: `there is no schema.graphql in ${sources.root}`,
      fix: 'npx generator init makes a project; --cwd DIR names another folder',
    });
  }
  const { readProject } = await import('@twofold/schema');
  const scalars = readUserScalars(sources.scalars);
  const { project, diagnostics } = readProject({
    schema: sources.schema,
    manifest: sources.manifest,
    ...(scalars && { scalars }),
    hooks: readUserHooks(sources.otherUserTexts),
    completesUser: completesUser(sources.otherUserTexts),
    ...(known && { known }),
  });
  const written = writtenMembers(sources);
  const own = await ownPagesOf(project, sources);
  const findings = [...sources.problems, ...stillToWrite(diagnostics, written), ...own.findings];
  return { sources, project: hasErrors(findings) ? null : own.project, findings };
}

/** Loaded only for a project with pages of its own. */
async function ownPagesOf(
  project: Project | null,
  { pages }: Sources,
): Promise<{ readonly project: Project | null; readonly findings: readonly Diagnostic[] }> {
  if (!project?.console || !pages) return { project, findings: [] };
  const { withOwnPages } = await import('./user-pages.ts');
  return withOwnPages(project, pages);
}

export function hasErrors(findings: readonly Diagnostic[]): boolean {
  return findings.some(({ severity }) => severity === 'error');
}

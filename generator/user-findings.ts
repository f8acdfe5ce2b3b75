import type { Diagnostic, Project } from '@twofold/schema';
import type { Sources } from './files.ts';
import { findMissingExports } from './missing-exports.ts';
import { findOrphanMembers } from './orphan-members.ts';
import { findTakenTypes } from './taken-types.ts';
import { findOrphans } from './user-files.ts';
import { findHookProblems } from './user-hooks.ts';
import { findJobProblems } from './user-jobs.ts';

/** Findings about files that the user has written. */
export const findInUserFiles = async (
  project: Project,
  sources: Sources,
): Promise<Diagnostic[]> => [
  ...findOrphans(project, sources.userFiles),
  ...findTakenTypes(project, sources),
  ...findHookProblems(project, sources.otherUserTexts),
  ...findJobProblems(sources.otherUserTexts),
  ...findMissingExports(withoutOrphans(sources, project)),
  ...(await findOrphanMembers(project, sources.resolvers)),
];

/** Leaves resolvers for a removed type out of the app; their files stay on disk. */
export function withoutOrphans(sources: Sources, project: Project): Sources {
  const orphans = new Set(findOrphans(project, sources.userFiles).map(({ at }) => at.file));
  return { ...sources, userFiles: sources.userFiles.filter((path) => !orphans.has(path)) };
}

import { type Diagnostic, type Project, QUERY_ROOT } from '@twofold/schema';
import { rootNames } from '../templates/owned/type-names.ts';
import type { AnsweredFields } from './answered-fields.ts';

/**
 * Counts the fields of the root types and of the types with a table, and the members elsewhere that
 * findings mention.
 */
export function countFields(
  project: Project,
  findings: readonly Diagnostic[],
  written: ReadonlySet<string>,
): AnsweredFields {
  const roots = rootNames(project);
  const operations = project.operations.map(({ root, name, action, decidedBy }) => ({
    place: `${roots[root]}.${name}`,
    custom: action.kind === 'custom' && decidedBy !== QUERY_ROOT,
  }));
  const fields = project.entities.flatMap((entity) =>
    entity.fields.map(({ name, source, decidedBy }) => ({
      place: `${entity.name}.${name}`,
      custom: source.kind === 'custom' && decidedBy !== QUERY_ROOT,
    })),
  );
  const all = [...operations, ...fields];
  const custom = new Set([
    ...all.flatMap(({ place, custom }) => (custom ? [place] : [])),
    ...findings.flatMap(({ coordinate }) => coordinate ?? []),
  ]);
  const yours = [...custom].filter((place) => !written.has(place));
  const total = new Set([...all.map(({ place }) => place), ...custom]);
  return { answered: total.size - yours.length, yours };
}

import { finding, type Rule } from './finding.ts';

/**
 * SCALAR_UNMAPPED: a user's own scalar needs a mapping. It is only a hint if the caller does not
 * give the mappings.
 */
export const scalarsMapped: Rule = function* ({ facts, project }) {
  const isKnown = facts.scalars !== null;
  for (const { name, source } of project.scalars) {
    if (source !== 'user' || facts.scalars?.has(name) || facts.parsed.unknown.has(name)) continue;
    yield finding(
      'SCALAR_UNMAPPED',
      `Nothing says what a ${name} is`,
      facts.schema.getType(name)?.astNode?.name,
      {
        why: 'it is not one of the scalars that are known',
        fix: `in src/scalars.ts: ${name}: { serialize, parseValue, type: 'text' }`,
      },
      isKnown ? 'error' : 'hint',
    );
  }
};

import { adoptedTables } from './adopted-tables.ts';
import { tallies } from './tallies.ts';
import { capabilities } from '../capabilities.ts';
import { columnNames } from './column-names.ts';
import { constraints } from './constraints.ts';
import { defaults } from './defaults.ts';
import { directiveArguments } from './directive-arguments.ts';
import { directiveEffects } from './directive-effects.ts';
import { directiveNames } from './directive-names.ts';
import { errorMembers } from './error-members.ts';
import { entityKey } from './entity-key.ts';
import { fieldLists } from './field-lists.ts';
import { filterWords } from './filter-words.ts';
import { finding, type Rule } from './finding.ts';
import { lookups } from './lookups.ts';
import { mcp } from './mcp.ts';
import { operations } from './operations.ts';
import { relationArguments } from './relation-arguments.ts';
import { relationDoubts } from './relation-doubts.ts';
import { relationOneSided } from './relation-one-sided.ts';
import { relationTables } from './relation-tables.ts';
import { lists } from './lists.ts';
import { renames } from './renames.ts';
import { restPaths } from './rest-paths.ts';
import { search } from './search.ts';
import { serverAddresses } from './server-addresses.ts';
import { sunsets } from './sunsets.ts';
import { tableNames } from './table-names.ts';
import { unusedInputs } from './unused-inputs.ts';
import { valueHoldsEntity } from './value-holds-entity.ts';

/**
 * SCALAR_UNMAPPED: a user's own scalar needs a mapping. It is only a hint if the caller does not
 * give the mappings.
 */
const scalarsMapped: Rule = function* ({ facts, project }) {
  const isKnown = facts.scalars !== null;
  for (const { name, source } of project.scalars) {
    if (source !== 'user' || facts.scalars?.has(name) || facts.parsed.unknown.has(name)) continue;
    yield finding('SCALAR_UNMAPPED', facts.schema.getType(name)?.astNode?.name, {
      summary: `Nothing says what a ${name} is`,
      why: 'it is not one of the scalars that are known',
      fix: `in src/scalars.ts: ${name}: { serialize, parseValue, type: 'text' }`,
      severity: isKnown ? 'error' : 'hint',
    });
  }
};

/** Rules about the schema. They also see the manifest. */
export const schemaRules: readonly Rule[] = [
  directiveNames,
  directiveArguments,
  directiveEffects,
  entityKey,
  adoptedTables,
  relationDoubts,
  relationArguments,
  relationOneSided,
  relationTables,
  valueHoldsEntity,
  tableNames,
  columnNames,
  restPaths,
  scalarsMapped,
  defaults,
  constraints,
  fieldLists,
  lists,
  tallies,
  search,
  renames,
  operations,
  errorMembers,
  filterWords,
  unusedInputs,
  sunsets,
  lookups,
  ...capabilities.flatMap(({ schemaRules = [] }) => schemaRules),
];

/** Rules about the manifest. They also see the schema. */
export const manifestRules: readonly Rule[] = [
  serverAddresses,
  mcp,
  ...capabilities.flatMap(({ manifestRules: rules = [] }) => rules),
];

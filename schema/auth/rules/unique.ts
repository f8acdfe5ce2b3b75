import { first } from '../../present.ts';
import { tenantEntity } from '../../build/memberships.ts';
import { tenantKeys, tenantPath } from '../../build/tenant.ts';
import { userEntity } from '../../build/user.ts';
import type { Built } from '../../build/built.ts';
import type { EntityFact } from '../../build/facts.ts';
import type { AuthUse } from '../../directives/of-both.ts';
import type { Finding } from '../../parse/places.ts';
import { finding, quoted, type Rule } from '../../rules/finding.ts';

/**
 * AUTH_TENANT_UNIQUE, AUTH_ROWS_UNIQUE: a unique value tells that a row exists, also to callers who
 * may not read that row.
 */
export const uniqueRows: Rule = function* (built) {
  const { facts } = built;
  for (const entity of facts.entities.values()) {
    if (entity === tenantEntity(facts) || entity === userEntity(facts)) continue;
    const uses = entity.directives.auth.filter(({ on }) => on.includes('READ'));
    const tenant = uses.find((use) => use.allow.includes('TENANT'));
    if (tenant && tenantPath(built.shapes, tenant, entity))
      yield* acrossTenants(built, entity, tenant);
    else if (uses.some(isAboutRows) && !uses.some(opensAll)) yield* acrossRows(built, entity, uses);
  }
};

const isAboutRows = ({ allow, where }: AuthUse) => where !== undefined || allow.includes('OWNER');

/** Whether the rule lets everybody read, or everybody who has signed in: nothing is hidden then. */
const opensAll = ({ allow, where }: AuthUse) =>
  where === undefined && (allow.includes('PUBLIC') || allow.includes('USER'));

function* acrossTenants(built: Built, entity: EntityFact, use: AuthUse): Generator<Finding> {
  const path = tenantPath(built.shapes, use, entity);
  const key = tenantKeys(built.shapes, entity).find(({ column }) => column === path?.column)?.field;
  yield* uniqueFields(entity, key?.name, {
    code: 'AUTH_TENANT_UNIQUE',
    over: 'over all organizations',
    why: 'a refused value tells that another organization has it',
    fix: `give ${entity.name} a field of type ${tenantEntity(built.facts)!.name} and an @index with it`,
  });
}

function* acrossRows(
  { facts, links }: Built,
  entity: EntityFact,
  uses: readonly AuthUse[],
): Generator<Finding> {
  const keys = (links.keys.get(entity.name) ?? [])
    .filter(({ target }) => target === userEntity(facts)?.name)
    .flatMap(({ field }) => field?.name ?? []);
  const owner = uses.find(({ allow }) => allow.includes('OWNER'));
  const key = owner?.owner ?? (owner && keys.length === 1 ? keys[0] : undefined);
  yield* uniqueFields(entity, key?.includes('.') ? undefined : key, {
    code: 'AUTH_ROWS_UNIQUE',
    over: 'over rows that not every caller may read',
    why: 'a refused value tells that such a row has it',
    fix: 'an @index with unique over this field and the one that divides the rows',
  });
}

interface Advice {
  readonly code: string;
  readonly over: string;
  readonly why: string;
  readonly fix: string;
}

/** @param key the field that divides the rows, if one does */
function* uniqueFields(
  entity: EntityFact,
  key: string | undefined,
  { code, over, why, fix }: Advice,
): Generator<Finding> {
  for (const field of entity.fields.values()) {
    const directive = field.field.astNode?.directives?.find(({ name }) => name.value === 'unique');
    if (!directive || field.name === 'id' || field.name === key) continue;
    const args = { fields: `[${quoted(key ?? '')}, ${quoted(field.name)}]`, unique: 'true' };
    const index = { name: 'index', args, repeated: true };
    const changes = [
      { kind: 'remove' as const, node: directive, within: field.field.astNode! },
      { kind: 'directive' as const, on: first(entity.definitions), ...index },
    ];
    const advice = { why, ...(key ? { changes } : { fix }) };
    const summary = `${entity.name}.${field.name} is unique ${over}`;
    yield finding(code, field.node, { summary, ...advice, severity: 'warning' });
  }
}

import type { AuthRule } from '../model.ts';
import { userEntity } from './user.ts';
import type { AuthUse } from '../directives/of-both.ts';
import type { EntityFact } from './facts.ts';
import { readCondition } from './conditions.ts';
import { namedColumn } from './named-columns.ts';
import { ownerPath, type Owner } from './owner-path.ts';
import type { Shapes } from './shapes.ts';
import { tenantPath } from './tenant.ts';

/** The rules of a type, a field or an operation; `entity` is the type whose rows they protect. */
export function authRules(
  shapes: Shapes,
  uses: readonly AuthUse[],
  entity: string | undefined,
): AuthRule[] {
  const fact = entity === undefined ? undefined : shapes.facts.entities.get(entity);
  return uses.map((use) => {
    const owner = use.allow.includes('OWNER') && fact ? ownerOf(shapes, use, fact) : undefined;
    const tenant = use.allow.includes('TENANT') && fact ? tenantPath(shapes, use, fact) : undefined;
    return {
      allow: use.allow,
      roles: use.roles,
      ...(owner?.kind === 'column' && { owner: owner.column }),
      ...(owner?.kind === 'path' && { ownedBy: owner.condition }),
      ...(tenant && { tenant }),
      ...(use.where && fact && { where: readCondition(shapes, fact, use.where).condition }),
      on: use.on,
    };
  });
}

/** The field that names the owner of a row, or the reason why the rule does not say it. */
export function ownerOf(shapes: Shapes, use: AuthUse, entity: EntityFact): Owner {
  const column = ownerColumn(shapes, use, entity);
  if (column !== undefined) return { kind: 'column', column };
  return use.owner === undefined ? { kind: 'unclear' } : ownerPath(shapes, use.owner, entity);
}

/**
 * The column that holds the owner's user id: the field that the rule names, the key if the row is a
 * user, or the entity's only foreign key to the user.
 *
 * @example
 * ownerColumn(shapes, { allow: ['OWNER'], owner: 'author', … }, post) // 'author_id'
 */
export function ownerColumn(shapes: Shapes, use: AuthUse, entity: EntityFact): string | undefined {
  const user = userEntity(shapes.facts);
  if (use.owner !== undefined) return namedOwner(shapes, use.owner, entity, user);
  if (user === entity) return 'id';
  const keys = (shapes.links.keys.get(entity.name) ?? []).filter(
    (key) => key.target === user?.name,
  );
  return keys.length === 1 ? keys[0]?.column : undefined;
}

/** A foreign key to the user, the user's own key, or an `ID` field without a named type. */
function namedOwner(
  shapes: Shapes,
  name: string,
  entity: EntityFact,
  user: EntityFact | undefined,
): string | undefined {
  const named = namedColumn(shapes, entity, name);
  if (!named?.key) return undefined;
  if (named.column === 'id') return user === entity ? 'id' : undefined;
  const key = shapes.links.keys.get(entity.name)?.find(({ column }) => column === named.column);
  return !key || !user || key.target === user.name ? named.column : undefined;
}

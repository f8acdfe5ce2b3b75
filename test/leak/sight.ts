import type { AuthRule, Entity, Project, Verb } from '@twofold/schema';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import type { Row } from '../graphql/random-data.ts';

/** What one caller may do, worked out for one row at a time as the contract says it, and by nothing of the runtime. */
export interface Sight {
  row(entity: Entity, row: Row, verb?: Verb): boolean;
  /** The field of a row that is seen; of a relation, the link and not what it leads to. */
  field(entity: Entity, field: string, row: Row): boolean;
}

export function sightOf(project: Project, caller: Principal): Sight {
  const byDefault =
    project.api.access === 'public' || caller.kind === 'user' || caller.kind === 'api_key';
  const user =
    caller.kind === 'user' ? caller.id : caller.kind === 'api_key' ? caller.userId : null;
  // A key without a user is a service's: what its scopes name is not narrowed by the rules that the
  // user type has unasked.
  const isService = caller.kind === 'api_key' && caller.userId === null;
  const holds = ({ allow, roles, owner, implied }: AuthRule, row: Row) =>
    (implied && isService) ||
    allow.some((who) => {
      if (who === 'PUBLIC') return true;
      if (who === 'USER') return user !== null;
      if (who === 'API_KEY') return isService;
      if (who === 'ROLE')
        return caller.kind === 'user' && caller.role !== null && roles.includes(caller.role.name);
      return (
        owner !== undefined &&
        user !== null &&
        row[owner] !== null &&
        String(row[owner]) === String(user)
      );
    });
  const allowed = (rules: readonly AuthRule[], verb: Verb, row: Row, otherwise: boolean) => {
    const speaking = rules.filter(({ on }) => on.length === 0 || on.includes(verb));
    return speaking.length === 0 ? otherwise : speaking.some((rule) => holds(rule, row));
  };
  const inScope = ({ plural }: Entity, verb: Verb) =>
    caller.kind !== 'api_key' ||
    caller.scopes.some(
      (scope) => scope === '*' || scope === `${plural}:${verb === 'READ' ? 'read' : 'write'}`,
    );
  return {
    row: (entity, row, verb = 'READ') =>
      inScope(entity, verb) && allowed(entity.rules, verb, row, byDefault),
    field: (entity, name, row) =>
      allowed(entity.fields.find((field) => field.name === name)?.rules ?? [], 'READ', row, true),
  };
}

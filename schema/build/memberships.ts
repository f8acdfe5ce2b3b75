import type { EntityFact, Facts } from './facts.ts';
import type { End } from './relation-ends.ts';
import { userEntity } from './user.ts';

/** The entity whose rows are the organizations. */
export const tenantEntity = ({ signIn, entities }: Facts): EntityFact | undefined =>
  signIn?.tenancy && entities.get(signIn.tenancy.type);

/**
 * The two lists that show the memberships: the users of an organization, and the organizations of a
 * user. A list whose rows have a key to this side, or that names its own table, is another relation.
 */
export function membershipEnds(
  facts: Facts,
  ends: readonly End[],
  partner: ReadonlyMap<End, End>,
): ReadonlySet<End> {
  const [tenant, user] = [tenantEntity(facts), userEntity(facts)];
  if (!tenant || !user) return new Set();
  const lists = ends.filter((end) => {
    const written = end.field.directives.relation;
    return (
      end.many &&
      !end.loose &&
      !end.abstract &&
      partner.get(end)?.many !== false &&
      written?.table === undefined &&
      written?.column === undefined
    );
  });
  const between = (owner: EntityFact, target: EntityFact, usual: string) => {
    const found = lists.filter(
      (end) => end.field.owner === owner.name && end.targets[0] === target.name,
    );
    return found.find(({ field }) => field.name === usual) ?? found[0];
  };
  const both = [between(tenant, user, 'members'), between(user, tenant, tenant.plural)];
  return new Set(both.filter((end) => end !== undefined));
}

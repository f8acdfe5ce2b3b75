import type { AuthRule, Project } from '@twofold/schema';
import type { Membership } from '../../context/request-context.ts';
import { ruleConditions, UNRESTRICTED } from './access.ts';
import { conditionsSql } from './condition-sql.ts';
import { literal, name, type Parameter } from '../sql/fragment.ts';
import { indexModel, type Model } from '../model.ts';
import { createScope, reference } from '../sql/scope.ts';
import type { Dialect } from '../../store/store.ts';

/**
 * The condition of each rule as SQL for a person to read, by schema coordinate. Parameters are
 * shown by their names. Null for a rule that only says who may act.
 *
 * @example ruleTexts(project, 'postgres')['Note'] // ['"notes"."author_id" = :caller']
 */
export function ruleTexts(
  project: Project,
  dialect: Dialect,
): Readonly<Record<string, readonly (string | null)[]>> {
  const model = indexModel(project);
  const texts: Record<string, readonly (string | null)[]> = {};
  for (const { name: entity, rules, fields } of project.entities) {
    const add = (coordinate: string, of: readonly AuthRule[]) => {
      if (of.length > 0)
        texts[coordinate] = of.map((rule) => ruleText(model, dialect, entity, rule));
    };
    add(entity, rules);
    for (const field of fields) add(`${entity}.${field.name}`, field.rules);
  }
  return texts;
}

function ruleText(model: Model, dialect: Dialect, of: string, rule: AuthRule): string | null {
  const conditions = ruleConditions(model, rule);
  if (conditions.length === 0) return null;
  const scope = createScope({
    model,
    rules: { ...UNRESTRICTED, organizations: organizationsOf(rule) },
    dialect,
    calls: [],
    marker: '',
    tree: false,
  });
  const entity = model.entity(of);
  const ref = (column: string) => reference(entity, name(entity.entity.table), column);
  return conditionsSql(scope, of, [conditions], ref)
    .map((piece) => (typeof piece === 'string' ? piece : valueText(piece)))
    .join('');
}

/** Of several organizations, so that the text has the general form. */
function organizationsOf({ roles }: AuthRule): Membership[] {
  const [role = null] = roles;
  return [0, 1].map((id) => ({ id, role }));
}

function valueText(parameter: Parameter): string {
  switch (parameter.from) {
    case 'caller':
      return ':caller';
    case 'claim':
      return `:claim(${parameter.claim})`;
    case 'organizations':
      return parameter.roles.length === 0
        ? ':organizations'
        : `:organizations(${parameter.roles.join(', ')})`;
    case 'value': {
      const { value } = parameter;
      if (typeof value === 'number' || typeof value === 'boolean') return String(value);
      return literal(typeof value === 'string' ? value : JSON.stringify(value));
    }
    default:
      return '?';
  }
}

import type { Project, TypeRef } from '../model.ts';

/** Collects input types of one prefix. */
export interface AdminInputs {
  /** @returns the name of the type; undefined for one without a field, which SDL does not have. */
  add(name: string, lines: readonly string[]): string | undefined;
  /**
   * The type as SDL for an input, without its last `!`; undefined if it has no form as an input.
   */
  typeOf(type: TypeRef): string | undefined;
  /** All of them, as SDL. */
  definitions(): string[];
}

/**
 * Collects input types for the values of rows. An object without a table gets one too, because SDL
 * does not accept an object type as an input.
 *
 * @example createAdminInputs(project, 'admin_').typeOf(address) // 'admin_Address'
 */
export function createAdminInputs({ objects }: Project, prefix: string): AdminInputs {
  const made = new Map<string, string>();
  const values = new Map(
    objects.filter(({ role }) => role === 'value').map((each) => [each.name, each]),
  );
  const add = (name: string, lines: readonly string[]): string | undefined => {
    const type = `${prefix}${name}`;
    if (lines.length === 0) return undefined;
    made.set(type, `input ${type} { ${lines.join('\n')} }`);
    return type;
  };
  const typeOf = (type: TypeRef): string | undefined => {
    const text = type.text.replace(/!$/, '');
    if (type.kind === 'scalar' || type.kind === 'enum') return text;
    const input = type.kind === 'object' ? objectInput(type.name) : undefined;
    return input === undefined ? undefined : text.replace(type.name, input);
  };
  const objectInput = (name: string): string | undefined => {
    const type = `${prefix}${name}`;
    const object = values.get(name);
    if (!object || made.has(type)) return object && type;
    // The name is registered before its fields are read, because an object may contain its own
    // type.
    made.set(type, '');
    const lines = object.fields.flatMap((field) => {
      const inner = typeOf(field.type);
      return inner === undefined
        ? []
        : [`${field.name}: ${inner}${field.type.required ? '!' : ''}`];
    });
    if (lines.length === 0) made.delete(type);
    return add(name, lines);
  };
  return { add, typeOf, definitions: () => [...made.values()] };
}

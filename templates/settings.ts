import { durationText, printSettings, sizeText, type Project } from '@twofold/schema';
import type { CapabilityTemplate, GeneratedFile } from './capability.ts';
import { code, file, local, packaged, runtime, HEADER, type Code } from './code.ts';
import { literal, str, type LiteralValue } from './literal.ts';

/**
 * A section of the manifest as data, with durations and sizes in readable form.
 *
 * @example
 * settings('server', project.server) // { port: 8080, bodyLimit: size('1MiB'), … }
 */
export function settings(section: string, values: object): LiteralValue {
  const printed = printSettings(section, values, {
    duration: durationCall,
    size: (bytes) => unitCall('size', sizeText(bytes)),
  });
  return printed as LiteralValue;
}

export const durationCall = (milliseconds: number): Code =>
  unitCall('duration', durationText(milliseconds));

function unitCall(name: 'duration' | 'size', text: string): Code {
  return { text: `${name}(${str(text)})`, imports: runtime(name).imports };
}

/**
 * The argument of `defineProject` for a capability: `auth: authSettings`. Null if its section is
 * disabled.
 */
export function settingsMember({ name, settings: wanted }: CapabilityTemplate, project: Project) {
  if (!wanted || !valuesOf(name, project)) return null;
  return code`${name}: ${local(`./${name}.ts`, wanted.as)}`;
}

/** The file with the settings of a capability. */
export function settingsFile(
  { name, settings: wanted }: CapabilityTemplate,
  project: Project,
): GeneratedFile | null {
  const values = valuesOf(name, project);
  if (!wanted || !values) return null;
  const { about, as, type, from, without = [] } = wanted;
  const printed = Object.fromEntries(
    Object.entries(values).filter(([key]) => !without.includes(key)),
  );
  const render = () =>
    file(
      HEADER,
      code`
        /** ${about}: the manifest's \`${name}\` section with every default filled in. */
        export const ${as}: ${packaged(from, type, { typeOnly: true })} = ${literal(settings(name, printed), { open: true })};
      `,
    );
  return { path: `src/generated/${name}.ts`, render };
}

const valuesOf = (name: string, project: Project) =>
  (project as unknown as Readonly<Record<string, object | null>>)[name] ?? null;

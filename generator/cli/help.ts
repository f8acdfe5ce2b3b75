import { type CommandSpec, GLOBAL_OPTIONS, type OptionSpec } from './command.ts';

/** The text of `generator --help`. */
export function overview(commands: readonly CommandSpec[]): string {
  const rows = commands.map(
    (command) => [`${command.name} ${command.usage}`.trim(), command.about] as const,
  );
  return `generator: two files in, a server you own out

Usage: generator <command> [options]

${table(rows)}

${table(optionRows(GLOBAL_OPTIONS))}

generator <command> --help shows its options and an example.
`;
}

/** The text of `generator <command> --help`. */
export function commandHelp(command: CommandSpec): string {
  const own = optionRows(command.options);
  return `generator ${command.name}: ${command.about}

Usage: generator ${command.name} ${command.usage ? `${command.usage} ` : ''}[options]

${own.length > 0 ? `${table(own)}\n\n` : ''}${table(optionRows(GLOBAL_OPTIONS))}

Example:
  ${command.example.split('\n').join('\n  ')}
`;
}

function optionRows(options: readonly OptionSpec[]): (readonly [string, string])[] {
  return options
    .filter((option) => !option.hidden)
    .map(
      (option) =>
        [
          `--${option.name}${option.value ? ` ${option.choices?.join('|') ?? option.value}` : ''}`,
          option.about,
        ] as const,
    );
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.min(34, Math.max(...rows.map(([name]) => name.length)));
  return rows
    .map(([name, about]) =>
      name.length > width
        ? `  ${name}\n  ${' '.repeat(width)}  ${about}`
        : `  ${name.padEnd(width)}  ${about}`,
    )
    .join('\n');
}

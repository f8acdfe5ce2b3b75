import { GLOBAL_OPTIONS, type CommandSpec, type OptionSpec, type CommandCall } from './command.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';

/** The shells that have a script. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/**
 * The script that completes commands, options and their choices. It holds all words itself: no key
 * press starts Node.
 */
export function completionScript(shell: Shell, commands: readonly CommandSpec[]): string {
  if (shell === 'fish') return fishScript(commands);
  return shell === 'bash' ? bashScript(commands) : zshScript(commands);
}

const bashScript = (commands: readonly CommandSpec[]) => `# eval "$(generator completion bash)"
_generator() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command='' list='' at
  for ((at = 1; at < COMP_CWORD; at++)); do
${findCommand('COMP_WORDS')}
  done
${listWords(commands)}
  COMPREPLY=($(compgen -W "$list" -- "$word"))
}
complete -o default -F _generator generator
`;

const zshScript = (commands: readonly CommandSpec[]) => `#compdef generator
# eval "$(generator completion zsh)", after compinit
_generator() {
  local before="\${words[CURRENT-1]}" command='' list='' at
  for ((at = 2; at < CURRENT; at++)); do
${findCommand('words')}
  done
${listWords(commands)}
  if [[ -n "$list" ]]; then compadd -- \${=list}; else _files; fi
}
compdef _generator generator
`;

/** The command is the first word that is neither an option nor the value of `--cwd`. */
const findCommand = (words: string) => `    case "\${${words}[at]}" in
      --cwd) ((at++)) ;;
      -*) ;;
      *) command="\${${words}[at]}"; break ;;
    esac`;

/** Sets `list` to the words that are possible here; an empty list means a file name. */
function listWords(commands: readonly CommandSpec[]): string {
  const values = commands.flatMap(({ name, options }) =>
    options
      .filter((option) => option.value !== undefined && !option.hidden)
      .map((option) => row(`${name} --${option.name}`, option.choices ?? [])),
  );
  const words = commands.map((command) => row(command.name, wordsOf(command)));
  const first = [...commands.map(({ name }) => name), ...flags(GLOBAL_OPTIONS)];
  return `  case "$command $before" in
    *' --cwd') ;;
${values.join('\n')}
    *)
      case "$command" in
${[row('', first), ...words].map((line) => `    ${line}`).join('\n')}
      esac ;;
  esac`;
}

const row = (pattern: string, words: readonly string[]) =>
  `    '${pattern}') list='${words.join(' ')}' ;;`;

const wordsOf = ({ words = [], options }: CommandSpec) => [
  ...words,
  ...flags(options),
  ...flags(GLOBAL_OPTIONS),
];

const flags = (options: readonly OptionSpec[]) =>
  options.filter(({ hidden }) => !hidden).map(({ name }) => `--${name}`);

function fishScript(commands: readonly CommandSpec[]): string {
  const seen = (name: string) => `-n '__fish_seen_subcommand_from ${name}'`;
  const lines = commands.flatMap(({ name, about, words = [], options }) => [
    `-n __fish_use_subcommand -f -a ${name} -d ${quoted(about)}`,
    ...words.map((word) => `${seen(name)} -f -a ${word}`),
    ...fishOptions(options).map((option) => `${seen(name)} ${option}`),
  ]);
  return `# generator completion fish | source
${[...lines, ...fishOptions(GLOBAL_OPTIONS)].map((line) => `complete -c generator ${line}`).join('\n')}
`;
}

/** `-x` takes one of a list, `-r` takes a file. */
function fishOptions(options: readonly OptionSpec[]): string[] {
  return options
    .filter(({ hidden }) => !hidden)
    .map(({ name, value, choices, about }) => {
      const takes = choices ? ` -x -a ${quoted(choices.join(' '))}` : value ? ' -r' : '';
      return `-l ${name}${takes} -d ${quoted(about)}`;
    });
}

/** Between single quotes, fish needs a backslash only before a quote and a backslash. */
const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;

/** `generator completion bash|zsh|fish`: a script for the shell, on standard output. */
export async function run({ positionals, commands, terminal }: CommandCall): Promise<ExitCode> {
  const shell = SHELLS.find((name) => name === positionals[0]);
  if (shell === undefined)
    throw new CommandError('UNKNOWN_SHELL', {
      message:
        positionals[0] === undefined
          ? 'which shell?'
          : `there is no completion for ${positionals[0]}`,
      fix: `generator completion ${SHELLS.join('|')}`,
    });
  const script = completionScript(shell, commands);
  if (terminal.json) terminal.document({ ok: true, shell, script });
  else terminal.data(script);
  return EXIT.done;
}

import { describe, expect, test } from 'vitest';
import { GLOBAL_OPTIONS } from '../../generator/cli/command.ts';
import { commands } from '../../generator/cli/commands.ts';
import { generator, runFile } from './project.ts';

/** What bash offers for the last of these words, as it calls the function of the script itself. */
async function offered(...words: string[]): Promise<string[]> {
  const { stdout: script } = await generator(['completion', 'bash'], '/');
  const { stdout } = await runFile(
    'bash',
    [
      '--norc',
      '-c',
      `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _generator; printf '%s\\n' "\${COMPREPLY[@]}"`,
      'bash',
      'generator',
      ...words,
    ],
    '/',
  );
  return stdout.split('\n').filter((word) => word !== '');
}

describe('completion of commands, options and their choices', () => {
  test.each([
    [['gen'], ['generate']],
    [['generate', '--dry'], ['--dry-run']],
    [['init', '--template', 'b'], ['blog']],
    [['--cwd', 'some/where', 'migrate', 'st'], ['status']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['seed', '--cwd', ''], []],
    [['deploy', '--to', ''], []],
  ])('in bash offers what fits: %j', async (words, expected) => {
    const found = await offered(...words);
    expect(words.at(-1) === '' ? found.filter((word) => !word.startsWith('--')) : found).toEqual(
      expected,
    );
  });

  test.each(['bash', 'zsh', 'fish'])('in %s has every command and option', async (shell) => {
    const { stdout, code } = await generator(['completion', shell], '/');
    expect(code).toBe(0);
    const options = [...GLOBAL_OPTIONS, ...commands.flatMap((command) => command.options)];
    const flag = (name: string) => (shell === 'fish' ? `-l ${name}` : `--${name}`);
    expect(commands.filter(({ name }) => !stdout.includes(name))).toEqual([]);
    expect(options.filter(({ name, hidden }) => hidden === stdout.includes(flag(name)))).toEqual(
      [],
    );
  });

  test('of a shell that is not known says which are, with exit 2', async () => {
    const { code, stderr } = await generator(['completion', 'tcsh'], '/');
    expect([code, stderr]).toEqual([2, expect.stringContaining('completion bash|zsh|fish')]);
    expect((await generator(['completion'], '/')).code).toBe(2);
  });
});

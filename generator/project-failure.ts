import { CommandError, EXIT } from './failure.ts';

/** Lines that are of no use to the author of a project: the frames of a trace, and Node's version. */
const TRACE = /^\s+at |^Node\.js v|^node:internal|^\s*$/;

/** The most lines of an error that are shown. */
const MOST_LINES = 12;

/**
 * The failure of a process that ran the code of a project.
 *
 * @param errors what the process wrote to standard error.
 * @example projectFailure("Cannot find package 'koa' imported from …", 1).fix // 'npm install'
 */
export function projectFailure(errors: string, exitCode: number | null): CommandError {
  const [, missing] = /Cannot find package '(.+?)' imported from/.exec(errors) ?? [];
  if (missing !== undefined)
    return new CommandError('PACKAGES_MISSING', {
      message: `the package ${missing} is not installed`,
      fix: 'npm install',
    });
  if (exitCode === null)
    return new CommandError('PROJECT_KILLED', {
      message: 'the process that ran the project was killed',
      fix: 'run the command again: what was not finished is as it was, or goes on from there',
      exit: EXIT.again,
    });
  const message = withoutTrace(errors) || `the project ended with ${exitCode}`;
  return new CommandError('PROJECT_FAILED', { message });
}

/** The last lines of an error, with the place in the project's own code where it was thrown. */
export function withoutTrace(errors: string): string {
  const lines = errors.trim().split('\n');
  const own = lines.find((line) => /^\s+at .*file:/.test(line) && !line.includes('/node_modules/'));
  const shown = lines.filter((line) => !TRACE.test(line)).slice(-MOST_LINES);
  return [...shown, ...(own && shown.length > 0 ? [own] : [])].join('\n');
}

import type { CommandCall } from '../cli/command.ts';

/** A deployment that has begun on the server. */
export interface BegunDeployment {
  /** What becomes of it without us. */
  readonly text: string;
  readonly cancel: () => Promise<void>;
}

/** What Ctrl+C does. `end` gives the signals back. */
export interface Interruption {
  readonly begun: (deployment: BegunDeployment) => void;
  readonly end: () => void;
}

/** Milliseconds in which a second Ctrl+C cancels the deployment. */
const SECOND_CHANCE = 3000;

/**
 * Handles Ctrl+C. The first one says what happens to the deployment that has begun; the second one,
 * within three seconds, cancels it. Then the command exits as the signal would.
 */
export function noteInterruption(terminal: CommandCall['terminal']): Interruption {
  let deployment: BegunDeployment | null = null;
  let timer: NodeJS.Timeout | null = null;
  const leave = (signal: NodeJS.Signals) => {
    end();
    process.kill(process.pid, signal);
  };
  const cancel = async ({ cancel: send }: BegunDeployment) => {
    const said = await send().then(
      () => 'cancelled: what served before still serves',
      (error: Error) => `not cancelled: ${error.message}`,
    );
    terminal.say(said);
    leave('SIGINT');
  };
  const stop = (signal: NodeJS.Signals) => {
    if (timer && deployment && signal === 'SIGINT') {
      clearTimeout(timer);
      process.off('SIGINT', stop);
      return void cancel(deployment);
    }
    terminal.say(`\ninterrupted: ${deployment?.text ?? 'nothing was deployed'}`);
    if (!deployment || signal !== 'SIGINT') return leave(signal);
    terminal.say('Ctrl+C again, within three seconds, cancels it');
    timer = setTimeout(leave, SECOND_CHANCE, signal);
  };
  const end = () => {
    if (timer) clearTimeout(timer);
    process.off('SIGINT', stop).off('SIGTERM', stop);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return { begun: (given) => void (deployment = given), end };
}

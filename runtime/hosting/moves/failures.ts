import { AppError } from '@twofold/runtime/errors';

/** The stream of a move is not what its source has sent, or what no honest source sends. */
export const refusedStream = (why: string): AppError =>
  new AppError(422, 'MOVE_REFUSED', `The moved app is refused: ${why}`);

/** There is no such move here: it has ended, or the server has restarted. */
export const noMove = (): AppError =>
  new AppError(404, 'MOVE_GONE', 'This move has ended: begin again');

/** The other server does not do its part. */
export const targetFailed = (why: string): AppError =>
  new AppError(
    502,
    'MOVE_TARGET_FAILED',
    `The app stays here: ${why}. Look at the other server, then move again`,
  );

/** Says that a stream was damaged in the words of a move; other errors are thrown again. */
export function asRefused(error: unknown): never {
  if (error instanceof AppError && error.code === 'BACKUP_KEY_WRONG')
    throw new AppError(422, 'MOVE_KEY_WRONG', 'The stream is encrypted with another key');
  if (error instanceof AppError && error.code === 'BACKUP_DAMAGED')
    throw refusedStream(error.message.replace(/^The backup is damaged: |\. Use another one$/g, ''));
  throw error;
}

import { type ErrorCode, row } from './error-code.ts';

/** Codes of hosting and of language models. */
export const hostingCodes: readonly ErrorCode[] = [
  row(
    'IMAGE_GONE',
    409,
    'the image of an earlier deployment is no longer kept',
    'deploy its source again',
  ),
  row(
    'DEPLOY_KEY_REFUSED',
    422,
    'the git host does not take the deploy key',
    'add the public key to the repository',
  ),
  row(
    'HOST_KEY_CHANGED',
    422,
    'the git host shows another key than the pinned one',
    'compare it with the key that the host publishes, then pin the new one',
  ),
  row(
    'REGISTRY_REFUSED',
    422,
    'the registry does not give the image to this login',
    'set or correct the login of the registry',
  ),
  row(
    'PUSH_FAILED',
    502,
    'the registry of `hosting.registry` does not take the image of a build',
    'the message has the reason; check that the registry answers and has room',
  ),
  row(
    'SSH_FAILED',
    422,
    'the repository cannot be fetched by SSH',
    'read the message of ssh in the answer',
  ),
  row(
    'TOO_MANY_RUNS',
    429,
    'as many runs of the app are going on as it may have',
    'wait for the end of one',
  ),
  row('NOT_SUPPORTED', 501, 'the engine cannot do this', 'use another engine for it'),
  row(
    'CERTIFICATE_REFUSED',
    502,
    'the certificate authority refused',
    'check that the name leads to this server; the message has the reason',
  ),
  row(
    'CHECKSUM_WRONG',
    502,
    'a downloaded file is not what the hub says it has',
    'download it again; nothing was kept',
  ),
  row(
    'HUB_REFUSED',
    502,
    'the hub does not give the model to this caller',
    'set `HF_TOKEN`, and accept the licence there',
  ),
  row(
    'HUB_UNREACHABLE',
    502,
    'the hub of models does not answer',
    'check the network, then try again',
  ),
  row(
    'MEMORY',
    507,
    'there is too little memory for the model',
    'take a smaller one, or end other programs',
  ),
  row(
    'BACKUP_AMBIGUOUS',
    409,
    'the target of `host restore` has backups of several servers',
    'copy those of one server into a target of their own',
  ),
  row(
    'BACKUP_MISSING',
    404,
    'the target has no backup of the server, or of an app that `host restore` brings back',
    'name the target that has it; `deploy` starts an app without its data',
  ),
  row(
    'HOST_NOT_EMPTY',
    409,
    '`host restore` was called where the database has rows',
    'restore where no server has started yet, or into an empty database',
  ),
  row(
    'BACKUP_KEY_WRONG',
    422,
    'the backup cannot be decrypted',
    'use the key that it was made with',
  ),
  row(
    'BACKUP_TARGET_FAILED',
    422,
    'the place of the backups does not take or give a file',
    'correct its address or its credentials: the message has the reason',
  ),
  row(
    'DUMP_FAILED',
    502,
    'the command that writes the backup of an app wrote nothing',
    'run the command in the app, and correct it',
  ),
  row(
    'RUN_FAILED',
    502,
    'a run that others waited for did not end well',
    'read the log of the run',
  ),
  row(
    'NO_BUILDKIT',
    503,
    'the manifest asks for BuildKit, and the engine has none',
    'install BuildKit, or leave out `hosting.build.buildkit`',
  ),
];

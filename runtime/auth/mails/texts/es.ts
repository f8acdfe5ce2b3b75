import type { MailTexts } from '../kinds.ts';

const UNASKED = ['Si no lo has pedido tú, no hagas nada.'];
const NOT_YOU = ['Si no has sido tú, restablece tu contraseña.'];
const ACCOUNT = 'Ver mi cuenta';
const ENDED = [
  'Sesiones cerradas: {sessions_ended}',
  'Dispositivos olvidados: {devices_ended}',
  'Claves de API revocadas: {api_keys_ended}',
  'Proveedores desvinculados: {identities_ended}',
  'Llaves de acceso eliminadas: {passkeys_ended}',
];

export const es: MailTexts = {
  'verify-email': {
    subject: 'Confirma tu dirección de correo',
    body: [
      'Confirma que esta es la dirección de correo de tu cuenta en {app}.',
      'El nombre de usuario {taken_username} está ocupado: el tuyo es {username}.',
      'El teléfono {taken_phone} pertenece a otra cuenta: la tuya no tiene ninguno.',
    ],
    action: 'Confirmar la dirección',
    after: ['El enlace vale {hours} horas.', ...UNASKED],
  },
  'change-email': {
    subject: 'Confirma tu nueva dirección de correo',
    body: ['Confirma que esta es la nueva dirección de correo de tu cuenta en {app}.'],
    action: 'Confirmar la dirección',
    after: ['El enlace vale {hours} horas.', ...UNASKED],
  },
  'email-changed': {
    subject: 'Tu dirección de correo ha cambiado',
    body: [
      'La dirección de correo de tu cuenta es ahora {email}.',
      'Si no has sido tú, escríbenos enseguida.',
    ],
  },
  'reset-password': {
    subject: 'Restablece tu contraseña',
    body: ['Sigue este enlace para elegir una contraseña nueva.'],
    action: 'Elegir una contraseña nueva',
    after: ['El enlace vale una vez, durante {minutes} minutos.', ...UNASKED],
  },
  'password-changed': {
    subject: 'Tu contraseña ha cambiado',
    body: ['La contraseña de tu cuenta ha cambiado.', ...ENDED],
    action: 'Restablecer la contraseña',
    after: NOT_YOU,
  },
  'password-changed:reset': {
    subject: 'Tu contraseña se ha restablecido',
    body: ['La contraseña de tu cuenta se ha restablecido.', ...ENDED],
    action: 'Restablecer la contraseña',
    after: NOT_YOU,
  },
  unlock: {
    subject: 'Tu cuenta está bloqueada',
    body: ['Demasiados inicios de sesión fallidos han bloqueado tu cuenta por un tiempo.'],
    action: 'Desbloquear la cuenta',
    after: ['El enlace vale una vez, durante {minutes} minutos.', ...NOT_YOU],
  },
  'new-device': {
    subject: 'Nuevo inicio de sesión en tu cuenta',
    body: [
      'Alguien ha iniciado sesión en tu cuenta desde un dispositivo desconocido.',
      'Dispositivo: {device}',
      'Dirección IP: {ip}',
      'Hora: {time}',
    ],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'sign-in': {
    subject: 'Inicia sesión en {app}',
    body: ['Tu código es {code}. Escríbelo donde lo has pedido.'],
    action: 'Iniciar sesión',
    after: [
      'Vale una vez, durante {minutes} minutos, y solo en el navegador que lo ha pedido.',
      ...UNASKED,
    ],
  },
  'account-exists': {
    subject: 'Ya tienes una cuenta',
    body: [
      'Alguien, quizá tú, ha querido registrarse con esta dirección, que ya tiene una cuenta.',
    ],
    action: 'Iniciar sesión',
    after: ['Si no has sido tú, no hagas nada. No se ha cambiado nada.'],
  },
  'account-exists:change-email': {
    subject: 'Ya tienes una cuenta',
    body: [
      'Alguien, quizá tú, ha querido dar esta dirección a otra cuenta, pero ya tiene una. No se ha cambiado nada.',
    ],
    action: 'Iniciar sesión',
  },
  invitation: {
    subject: 'Invitación de {app}',
    body: [
      'Tienes una invitación para unirte a {organization} como {role}.',
      '{inviter} te ha invitado.',
      'El enlace abre una página donde aceptas o rechazas.',
    ],
    action: 'Ver la invitación',
    after: ['El enlace vale {days} días.', 'Si no sabes por qué, no hagas nada.'],
  },
  'account-created': {
    subject: 'Tu cuenta en {app}',
    body: ['Se ha creado una cuenta para ti. Elige su contraseña para iniciar sesión.'],
    action: 'Elegir una contraseña',
    after: ['El enlace vale una vez, durante {hours} horas.'],
  },
  'api-key-added': {
    subject: 'Se ha creado una clave de API',
    body: ['Se ha creado una clave de API que actúa por ti: {name}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'api-key-added:replaced': {
    subject: 'Se ha sustituido una clave de API',
    body: ['Una clave de API que actúa por ti se ha sustituido por otra nueva: {name}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'api-key-added:removed': {
    subject: 'Se ha revocado una clave de API',
    body: ['Se ha revocado una clave de API que actuaba por ti: {name}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'identity-linked': {
    subject: 'Se ha vinculado un proveedor',
    body: ['Se ha vinculado un proveedor a tu cuenta: puedes iniciar sesión con {provider}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'identity-linked:removed': {
    subject: 'Se ha desvinculado un proveedor',
    body: ['Se ha desvinculado un proveedor: ya no puedes iniciar sesión con {provider}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'passkey-added': {
    subject: 'Se ha añadido una llave de acceso',
    body: ['Se ha añadido una llave de acceso a tu cuenta: {name}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'passkey-added:removed': {
    subject: 'Se ha eliminado una llave de acceso',
    body: ['Se ha eliminado una llave de acceso de tu cuenta: {name}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'passkey-added:cloned': {
    subject: 'Puede que se haya copiado una llave de acceso',
    body: [
      'Alguien ha querido iniciar sesión con lo que parece una copia de tu llave de acceso {name}. Se ha rechazado. Elimina la llave y crea otra.',
    ],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'second-factor-changed': {
    subject: 'Se ha activado un segundo factor',
    body: ['Al iniciar sesión se pide ahora un código de tu aplicación de autenticación.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'second-factor-changed:disabled': {
    subject: 'Se ha desactivado el segundo factor',
    body: ['Al iniciar sesión ya no se pide un código de tu aplicación de autenticación.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'second-factor-changed:recovery-codes': {
    subject: 'Se han creado códigos de recuperación',
    body: ['Se han creado códigos de recuperación nuevos. Los anteriores ya no valen.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'second-factor-changed:removed': {
    subject: 'Se ha quitado tu segundo factor',
    body: [
      'La administración ha quitado el segundo factor de tu cuenta: códigos, llaves de acceso y dispositivos recordados.',
    ],
    action: ACCOUNT,
    after: ['Si no lo has pedido, escríbenos enseguida.'],
  },
  'recovery-code-used': {
    subject: 'Se ha usado un código de recuperación',
    body: [
      'Se ha usado un código de recuperación para iniciar sesión en tu cuenta. Códigos que quedan: {left}.',
    ],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'refresh-reuse': {
    subject: 'Se ha cerrado una sesión',
    body: [
      'Un token de una de tus sesiones se ha usado dos veces. La sesión se ha cerrado, porque el token puede haberse copiado.',
    ],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'account-deletion': {
    subject: 'Tu cuenta se eliminará',
    body: ['Tu cuenta en {app} se eliminará el {date}. Hasta entonces puedes conservarla.'],
    action: 'Conservar la cuenta',
    after: ['Si debe eliminarse, no hagas nada.'],
  },
  impersonated: {
    subject: 'La administración ha entrado en tu cuenta',
    body: [
      'La administración de {app} ha iniciado sesión en tu cuenta.',
      'Motivo: {reason}',
      'Hora: {time}',
    ],
    action: ACCOUNT,
    after: ['Si no lo esperabas, escríbenos.'],
  },
  alert: {
    subject: 'Aviso de seguridad: {type}',
    body: ['{type} a las {time}', 'Dirección IP: {ip}', '{details}'],
  },
};

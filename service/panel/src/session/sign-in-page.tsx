import { Notification, useLogin } from 'react-admin';
import { Gate } from './gate.tsx';
import { SignInForm } from './sign-in-form.tsx';

export function SignInPage() {
  const login = useLogin();
  return (
    <Gate title="Sign in">
      <SignInForm onSignIn={login} />
      <Notification />
    </Gate>
  );
}

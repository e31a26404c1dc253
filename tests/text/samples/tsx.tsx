// Buttons — drawn as ▲ and 😀.
import React, { useState } from 'react';
import { Icon } from './icon';

interface Props {
  label: string;
  onPress?: () => void;
}

/** A button with a label. */
export function Button({ label, onPress }: Props): JSX.Element {
  const [count, setCount] = useState<number>(0);
  return (
    <button onClick={() => setCount(count + 1)}>
      <Icon name="plus" />
      <theme.Text>{format(label)}</theme.Text>
    </button>
  );
}

export const Panel: React.FC<Props> = (props) => <Button {...props} />;

const THEME = createTheme();

class Screen extends React.Component<Props> {
  state = { open: false };

  render() {
    return <Panel>{this.props.children}</Panel>;
  }
}

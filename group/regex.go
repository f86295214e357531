package group

import "regexp"

// validRegex tells whether the text is a regular expression in RE2's syntax; "" stands for none.
func validRegex(text string) bool {
	_, err := compileRegex(text)
	return err == nil
}

// compileRegex makes a regular expression that matches whole names.
func compileRegex(text string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(text); err != nil {
		return nil, err
	}
	return regexp.Compile(`^(?:` + text + `)$`)
}

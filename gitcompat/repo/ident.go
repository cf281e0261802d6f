package repo

import (
	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/ident"
)

// LoadIdent makes the source of identities out of the configuration c.
func LoadIdent(c *config.Config) (*ident.Source, error) {
	s := &ident.Source{LookupEnv: c.LookupEnv}
	for _, to := range []struct {
		key   string
		value *ident.Value
	}{
		{"user.name", &s.UserName}, {"user.email", &s.UserEmail}, {"author.name", &s.AuthorName},
		{"author.email", &s.AuthorEmail}, {"committer.name", &s.CommitterName}, {"committer.email", &s.CommitterEmail},
	} {
		text, ok, err := c.String(to.key)
		if err != nil {
			return nil, err
		}
		*to.value = ident.Value{Text: text, Set: ok}
	}
	var err error
	s.UseConfigOnly, err = c.Bool("user.useconfigonly", false)
	return s, err
}

// Ident returns the source of identities.
func (r *Repo) Ident() (*ident.Source, error) {
	r.identOnce.Do(func() { r.ident, r.identErr = LoadIdent(r.Config) })
	return r.ident, r.identErr
}
